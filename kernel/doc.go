// Package kernel is the kernel process: it speaks version 5.5 of the Jupyter messaging
// protocol and lets a worker process run the cells.
//
// [Run] is all that a command needs. A message takes this path:
//
//	transport → receive (verify, decode) → lane → dispatch → handler → reply
//
// A lane is a queue with one goroutine that handles its requests in order. There are
// four, so that a request waits only behind requests whose order matters to it: one for
// cells and the requests that must keep their order with them; one for queries to the
// worker such as completion; one for comm messages, such as a slider that was moved; and
// one for requests that the kernel process answers alone, such as an interrupt. table.go
// lists the lane, handler and reply of each message type. Only the dispatcher sends busy,
// the reply and idle, whatever the handler does; a handler only translates between the
// protocol and the worker.
//
// The output of cells goes through one [publisher], which joins small writes and keeps
// the order. Everything is published with the header of its request as parent header.
// That header is passed along with the request; there is no "current request".
//
// The worker is one process, or after %ranks several that run each cell together: package
// kernel/ranks is the worker as this package sees it, package kernel/worker keeps one
// process running.
//
// To add a message, write its content in kernel/wire, a handler in a file named after it,
// and a row of the table.
//
// # Errors
//
// Run fails with the typed errors of the transport before it serves. After that, nothing
// that a client or a cell does makes it fail: forged or malformed messages are logged and
// dropped, authentic requests that are wrong are answered with an error, and a worker
// that dies is replaced.
package kernel
