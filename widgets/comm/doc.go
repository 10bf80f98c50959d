// Package comm ties an object of a Go program to one in a notebook's front end,
// by the comms of the Jupyter protocol.
//
// [Open] opens a comm to a target that the front end knows; [Register] names a
// target that the front end may open. Either way there is a [Comm] that sends
// with [Comm.Send] and receives through [Comm.OnMessage].
//
// The package knows nothing of Jupyter's sockets: messages go through a [Host],
// which the kernel's worker sets. Without one, in a plain program, Open fails
// with [ErrNoFrontEnd].
//
// Handlers run one at a time, also while a cell runs: what they share with a
// cell needs a lock, as between any goroutines. One that takes more than a second
// goes on beside the others; messages for the same comm wait for it.
package comm
