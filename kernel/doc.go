// Package kernel is the front: it speaks the Jupyter messaging protocol 5.5 and
// has a worker process run the cells.
//
// [Run] is all that a command needs. Inside, a message takes this way:
//
//	transport → receive (verify, decode) → lane → dispatch → handler → reply
//
// There are four lanes, each with one goroutine and one queue, so that nothing
// waits behind a cell that need not: cells and what must keep its order with
// them; questions to the worker such as completion; messages to its objects, such
// as a slider that was moved; and what the front answers by itself, such as an
// interrupt. The table in table.go says for each message type
// which lane, handler and reply it has. The dispatcher alone sends busy, the
// reply and idle, whatever the handler does; a handler only translates between
// the protocol and the worker.
//
// What cells put out goes through one [publisher], which joins small writes and
// keeps the order. Everything is published with the header of the request that
// it belongs to as parent, which is passed along and never looked up in a
// "current request".
//
// The worker is one process, or after %ranks several that run each cell together:
// package kernel/ranks is the worker that the front knows, package kernel/worker
// keeps one process running.
//
// To add a message, write its content in kernel/wire, a handler in a file named
// after it, and a row of the table.
//
// # Errors
//
// Run fails with the typed errors of the transport before it has begun, and
// with nothing that a client or a cell could cause afterwards: what is forged or
// garbled is logged and dropped, what is authentic but wrong is answered with an
// error, and a worker that dies is replaced.
package kernel
