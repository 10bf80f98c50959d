// Package link is the small typed protocol between the front process, which
// speaks Jupyter, and the worker process, which runs cells.
//
// The messages are the structs of messages.go. A [Conn] carries them over one
// byte stream in both directions: [Conn.Call] sends a request and waits for its
// response, [Conn.Notify] sends an event, and [Serve] reads what the other side
// sends and hands it to a [Handler]. Most callers want the typed layer instead:
//
//   - the front holds a [Client], which is a [Worker] at a distance, and serves
//     the worker's events and questions with [ServeFront];
//   - the worker process serves its [Worker] with [ServeWorker] and reaches the
//     notebook through a [Front].
//
// # Order
//
// What one side sends arrives in that order. Events are handled one after the
// other on the goroutine that reads, so a Display sent before the Result of a
// cell has been handled when the call of Execute returns. Requests are handled
// on goroutines of their own: completion answers while a cell runs.
//
// # Errors
//
// A call whose connection ended fails with [ErrClosed]; one whose handler
// failed on the other side, with a [*RemoteError]; one that is too large to
// send, with a [*SizeError], and the connection goes on. Bytes that are no frame
// end the connection, since nothing after them can be trusted.
//
// A changer must keep this: the goroutine that reads never waits for a write.
package link
