// Package child is the worker process's side of what package worker supervises.
//
// The kernel process starts a worker with two pipes for the link, whose descriptors are
// in its environment; its file descriptors 1 and 2 are pipes too. The code of a worker is
//
//	process, err := child.Open()
//	…
//	session := newSession(process.Host())
//	err = process.Serve(ctx, session)
//	os.Exit(…)
//
// [Process.Serve] writes a mark into both output streams at the start and the end of each
// cell, and [Process.Host] one at each display (see package mark). With these the kernel
// process puts output, displays and the end of the cell into the order in which they
// happened. This holds for everything that the process writes to 1 and 2, in any language
// and from any goroutine.
//
// The output of a goroutine that outlives its cell belongs to the cell that is running
// when it is written, unless the goroutine writes through [Process.Stdout] and
// [Process.Stderr], which name the cell.
package child
