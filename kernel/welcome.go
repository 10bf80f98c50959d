package kernel

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// isWelcome reports whether a frame is the header of an iopub_welcome.
func isWelcome(frame []byte) bool {
	return bytes.Contains(frame, []byte(`"`+string(wire.IOPubWelcome)+`"`))
}

// welcome publishes iopub_welcome for each new subscription, with the subscribed topic.
// From then on the client receives all messages (JEP 65). A topic that is not UTF-8 is
// ignored, as the protocol requires.
func (k *Kernel) welcome(ctx context.Context) {
	for {
		frames, err := k.sockets.Receive(ctx, transport.IOPub)
		if err != nil {
			return
		}
		topic := frames[0]
		if !utf8.Valid(topic) {
			continue
		}
		k.publisher.welcome(wire.Outgoing{
			Identities: [][]byte{topic},
			Type:       wire.IOPubWelcome,
			Content:    wire.Welcome{Subscription: string(topic)},
		})
	}
}
