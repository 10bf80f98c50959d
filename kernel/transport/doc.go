// Package transport carries the multipart messages of a kernel over the sockets
// that its connection file names. It knows nothing of what is in them.
//
// [ReadConnection] reads the file, [Listen] binds the five ports and returns
// the [Sockets]. The heartbeat is answered by itself; the other four are the
// [Channel]s.
//
// # Errors
//
// A file that is missing or wrong is a [*ConnectionError], a port that cannot
// be bound a [*BindError]; both say in one line what to do about it.
package transport
