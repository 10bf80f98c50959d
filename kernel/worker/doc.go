// Package worker keeps a worker process running for the front.
//
// A [Supervisor] is a link.Worker that does not die: it starts the process,
// passes requests on, and when the process ends, however that came about, it
// fails the running cell with the real reason and starts another. What cells put
// out it hands to a [Notebook], in the order in which it was put out:
//
//	worker process                          front
//	  fd 1, fd 2 ── pipes ── scanner ──┐
//	  displays   ── link ──────────────┴─ meeting ── Notebook
//
// The marks that package child sets in the two pipes say which cell the worker has
// begun, and where a display, or the end of a cell, belongs; the meeting makes each side wait for the others there.
// The ends of all waits are bounded: a cell that closes every descriptor of the
// process loses the order, not the session.
//
// An interrupted cell is awaited for as long as its process has had no chance to
// end it; see pending.go. Output belongs to the cell that the worker has begun, not
// to the one that the front has sent.
//
// A [Runner] is one process with its pipes; [Command] is the real one. It is
// killed with all that it started: a process group on Unix, a job on Windows. It
// ends when the front does, since its link ends then, and on Linux by signal; what
// it has started is then ended by a shell in its process group.
package worker
