// Package history stores the cells that a user has run in all sessions.
//
// [Open] begins a new session in a file that earlier sessions have written, and
// [History.Add] adds a cell to it. No method waits for the file system for longer than a
// limit: one goroutine, the [writer], opens, reads and writes the file. If the file
// system hangs, only that goroutine waits. Entries that it cannot write are queued up to
// a limit, and entries that it has not read are missing in results.
//
// # File
//
// The file has a line of JSON for each cell and for the start of each session. Only its
// owner may read it. When it has grown to twice the size of what is kept, the oldest
// lines are dropped. Truncated or malformed lines are skipped.
//
// Several kernels may use a file concurrently. Each change is made under a lock on a file
// beside it, so each session gets a unique number and lines do not mix. What another
// kernel adds after a session has begun is not part of that session's history, but of
// later ones.
//
// If the file cannot be used, the history is kept in memory, and the first error is
// reported.
package history
