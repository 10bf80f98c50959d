// Package link is the typed protocol between the kernel process, which speaks Jupyter,
// and the worker process, which runs cells.
//
// The messages are the structs of messages.go. A [Conn] carries them over one byte stream
// in both directions: [Conn.Call] sends a request and waits for its response,
// [Conn.Notify] sends an event, and [Serve] reads what the other side sends and passes it
// to a [Handler]. Most callers use the typed layer instead:
//
//   - the kernel process holds a [Client] of the [Worker] in another process, and serves the worker's events and requests with [ServeHost];
//   - the kernel process sends requests to a worker with [Ask], which returns the reply that belongs to the type of the request;
//   - the worker process serves its [Worker] with [ServeWorker] and reaches the kernel process through a [Host] from [NewHost].
//
// # To add a request that the worker answers
//
// Add its type and that of its reply to messages.go and to the list there: the request
// embeds [AnsweredBy], a reply whose handler may print embeds [Output]. Add its handler to
// the worker with [On]. Everything between the two processes forwards it.
//
// # Order
//
// Messages arrive in the order in which they were sent. Events are handled one after the
// other on the reading goroutine, so a Display sent before the Result of a cell has been
// handled when the call of Execute returns. Each request is handled on a goroutine of its
// own, so completion is answered while a cell runs.
//
// # Errors
//
// A call fails with [ErrClosed] if its connection has ended, with a [*RemoteError] if its
// handler failed on the other side, and with a [*SizeError] if it is too large to send;
// the connection can still be used. Malformed bytes end the connection, since nothing after
// them can be trusted.
//
// Invariant: the reading goroutine never waits for a write.
package link
