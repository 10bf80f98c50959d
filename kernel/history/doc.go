// Package history keeps the cells that a user has run, over all sessions.
//
// [Open] begins a new session in a file that earlier ones have written, and
// [History.Add] appends to it. What earlier sessions have left is read when it is
// asked for: a kernel that starts has other things to do. What kernels beside
// this one add belongs to later ones.
// Without a file the history lives in memory. The file has a line of JSON for each cell, is readable by its owner alone, and
// keeps to a bound: when it has grown to twice what is kept, Open writes it
// anew.
//
// Several kernels may append to one file at once: a line is one write. A line
// that is cut or garbled is passed over. When the file cannot be written the
// history goes on in memory, and the first error is reported once.
package history
