// Package history keeps the cells that a user has run, over all sessions.
//
// [Open] begins a new session in a file that earlier ones have written, and
// [History.Add] adds a cell to it. Neither of them, and no question, waits for the
// file system for longer than a bound: one goroutine, the [keeper], opens, reads and
// writes the file. A file system that hangs delays that goroutine and nothing else;
// what it cannot write waits, up to a bound, and what it has not read is missing in
// the answers.
//
// # File
//
// The file has a line of JSON for each cell and for the start of each session. It is
// readable by its owner alone. When it has grown to twice what is kept, the oldest
// lines are dropped. A line that is cut or garbled is skipped.
//
// Several kernels may use one file at once. Each change of it is made under a lock,
// which belongs to a file beside it, so that each session gets a number of its own and
// lines do not mix. What another kernel adds after a session has begun is not part of
// that session's history, but of later ones.
//
// When the file cannot be used, the history lives in memory. The first error is
// reported once.
package history
