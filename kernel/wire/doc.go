// Package wire implements the messages of the Jupyter messaging protocol, version 5.5:
// their framing and signature, and the content of each type.
//
// Start at [Codec]: Decode turns the frames of a multipart message into a [Message] and
// verifies its signature; Encode returns the frames of a new message. The content of a
// message is a struct of this package, with a file for requests that belong together. Replies are made by
// constructors, so that no field is missing.
//
// The package does not use sockets. A Codec may be used from any goroutine.
//
// # Errors
//
// Decode fails with [ErrSignature] if the sender does not know the key, with [ErrReplay]
// if the message was received before, and with a [*FormatError] if it is not a message of
// the protocol. Such messages should not be answered. [Message.Content] fails with a
// [*ContentError] if an authentic message has wrong content; its sender should get an
// error reply.
//
// Invariants: before the signature has been verified, nothing of a message is interpreted
// except the frame boundaries. The header of a request is returned as parent_header byte
// for byte, since it may have keys of later versions of the protocol.
//
// The specification is https://jupyter-client.readthedocs.io/en/stable/messaging.html.
package wire
