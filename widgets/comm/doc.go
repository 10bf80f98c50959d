// Package comm connects an object of a Go program with one in the notebook front end, through
// the comms of the Jupyter protocol.
//
// [Open] opens a comm to a target that the front end has registered; [Register] registers a
// target that the front end may open. Both give a [Comm], which sends with [Comm.Send] and
// receives through [Comm.OnMessage].
//
// The package does not depend on Jupyter's sockets: messages go through a [Host], which the
// kernel's worker sets. Without one, in a plain program, Open fails with [ErrNoFrontEnd].
//
// Handlers run one at a time, even while a cell runs, so data that they share with a cell need
// a lock. After one second, the next handlers no longer wait for the running one and run
// concurrently with it; messages for the same comm still wait.
package comm
