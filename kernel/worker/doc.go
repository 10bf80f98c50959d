// Package worker keeps a worker process running for the kernel process.
//
// A [Supervisor] is a link.Worker that restarts its process. It starts the process and
// forwards requests to it. When the process ends for any reason, the supervisor fails the
// running cell with that reason and starts a new process. It passes the output of cells
// to a [Notebook] in the order in which it was produced:
//
//	worker process                          kernel process
//	  fd 1, fd 2 ── pipes ── scanner ──┐
//	  displays   ── link ──────────────┴─ rendezvous ── Notebook
//
// The two pipes and the link are independent, so package child writes marks into both
// pipes (see package mark). They say which cell the worker has begun, and at which
// position in the output a display or the end of a cell belongs. The rendezvous makes the
// readers of the pipes and of the link wait for each other at a mark. Every wait is
// bounded: a cell that closes all file descriptors of its process may lose the order of
// its output, but not the session.
//
// An interrupted cell is waited for as long as its process has had no chance to end it;
// see pending.go. Output belongs to the cell that the worker has begun, not to the cell
// that the kernel process has sent.
//
// A [Runner] is one process with its pipes; [Command] is the real one. Killing it also
// kills everything that it started: a process group on Unix, a job object on Windows. The
// worker ends with the kernel process, because its link is closed then, and on Linux also
// by a signal. What the worker has started is then killed by a shell in its process group
// (guard_unix.go).
package worker
