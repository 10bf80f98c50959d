// Package wire holds the messages of the Jupyter messaging protocol, version
// 5.5: their framing and signature, and the content of each type.
//
// Start at [Codec]: Decode turns the frames of one multipart message into a
// [Message] whose signature has been verified, Encode makes the frames of a new
// one. The content of a message is a struct of this package, a file for each
// request; a constructor makes each reply, so that no reply lacks a field.
//
// The package knows nothing of sockets. A Codec may be used from any goroutine.
//
// # Errors
//
// Decode fails with [ErrSignature] for a message that somebody without the key
// has made, with [ErrReplay] for one that came before, and with a
// [*FormatError] for one that is not of the protocol. None of them deserves an
// answer. A [*ContentError] comes from [Message.Content] of a message that is
// authentic but wrong; its sender should hear of it.
//
// A changer must keep this: nothing of a message is looked at, beyond where its
// frames begin, before the signature is verified; and the header of a request
// returns as parent_header byte for byte, since it may hold keys of later
// versions.
//
// The rules are those of
// https://jupyter-client.readthedocs.io/en/stable/messaging.html.
package wire
