// Package child is the worker process's end of what package worker supervises.
//
// The front leaves a worker two pipes for the link and, in its environment,
// where they are; its file descriptors 1 and 2 are pipes too. A worker is then
//
//	process, err := child.Open()
//	…
//	session := newSession(process.Front())
//	err = process.Serve(ctx, session)
//	os.Exit(…)
//
// [Process.Serve] sets a mark in both output streams behind each cell, and
// [Process.Front] one at each display, so that the front can put output, displays
// and the end of the cell in the order in which they happened.
// This holds for all that the process writes to 1 and 2, from any language and
// goroutine.
//
// A goroutine that outlives its cell writes into the cell that runs by then,
// unless it writes through [Process.Stdout] and [Process.Stderr], which name
// the cell.
package child
