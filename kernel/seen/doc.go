// Package seen keeps the signatures of the messages that a kernel has received, so that
// one which is started again with the same connection file, and so the same key,
// recognises messages that somebody has recorded and sends again.
//
// A file has the signatures for one key, 32 bytes each. Its name is derived from the
// key and does not tell it. One goroutine reads and writes the file; whoever asks for
// the signatures waits for [patience] at most, and a signature is written soon after
// its message came, within milliseconds as a rule. Files that nobody has used for
// [maxAge] are removed.
package seen
