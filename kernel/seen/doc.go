// Package seen stores the signatures of the messages that a kernel has received. A kernel
// that is restarted with the same connection file, and so with the same key, can then
// recognize messages that were recorded and are sent again (replayed).
//
// There is one file for each key, with signatures of 32 bytes. Its name is derived from
// the key by a one-way function. One goroutine reads and writes the file. Reading the
// signatures waits for at most [timeout]; a signature is normally written within
// milliseconds after its message has arrived. Files that have not been used for [maxAge]
// are removed.
package seen
