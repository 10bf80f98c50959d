// Package transport carries the multipart messages of a kernel over the sockets that its
// connection file names. It does not interpret the messages.
//
// [ReadConnection] reads the file, [Listen] binds the five ports and returns the
// [Sockets]. They answer the heartbeat themselves; the other four are the [Channel]s.
//
// # Errors
//
// A missing or invalid file is a [*ConnectionError], a port that cannot be bound a
// [*BindError]; both say in one line what to do about it.
package transport
