package transport

import "fmt"

// Channel is one of the sockets that carry messages.
type Channel int

// The channels. Shell, Control and Stdin are ROUTER sockets: the first frame of
// a message is the identity of the peer. IOPub is a PUB socket: the first frame
// of a message that is sent is its topic, and each received message is one frame, the
// topic of a new subscription.
const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	channels
)

var channelNames = [...]string{"shell", "control", "stdin", "iopub", "heartbeat"}

// heartbeat is the fifth socket. No Channel is heartbeat, since it carries no messages.
const heartbeat = channels

func (c Channel) String() string {
	if c < 0 || int(c) >= len(channelNames) {
		return fmt.Sprintf("channel %d", int(c))
	}
	return channelNames[c]
}
