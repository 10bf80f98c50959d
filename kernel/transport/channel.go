package transport

import "fmt"

// Channel is one of the sockets that carry messages.
type Channel int

// The channels. Shell, Control and Stdin are ROUTER sockets: the first frame of
// a message is the identity of the peer. IOPub is a PUB socket: the first frame
// of a message is its topic, and what is received is each new subscription, one
// frame with the topic that is subscribed to.
const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	channels
)

var channelNames = [...]string{"shell", "control", "stdin", "iopub", "heartbeat"}

// heartbeat is the socket that no message passes.
const heartbeat = channels

func (c Channel) String() string {
	if c < 0 || int(c) >= len(channelNames) {
		return fmt.Sprintf("channel %d", int(c))
	}
	return channelNames[c]
}
