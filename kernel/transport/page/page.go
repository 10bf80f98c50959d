// Package page carries the messages of a kernel that runs in a browser, beside the page that shows the notebook.
//
// A message is the text that front ends send over a WebSocket: a JSON object with header, parent_header, metadata, content
// and channel (https://jupyter-server.readthedocs.io/en/latest/developers/websocket-protocols.html). Its buffers are separate.
// Messages are not signed, since they do not leave the browser.
package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// client is the identity of the only client.
const client = "page"

// waiting is the number of messages that a channel holds for a kernel that does not receive them.
const waiting = 1 << 14

// Sockets carry messages between a kernel and its page. They implement kernel.Sockets.
type Sockets struct {
	send     func(text []byte, buffers [][]byte)
	received [transport.IOPub]chan [][]byte
}

// New returns sockets. send passes a message of the kernel to the page; it is called by one goroutine at a time per channel.
func New(send func(text []byte, buffers [][]byte)) *Sockets {
	s := &Sockets{send: send}
	for i := range s.received {
		s.received[i] = make(chan [][]byte, waiting)
	}
	return s
}

// message is the text of a message.
type message struct {
	Channel  string          `json:"channel"`
	Header   json.RawMessage `json:"header"`
	Parent   json.RawMessage `json:"parent_header"`
	Metadata json.RawMessage `json:"metadata"`
	Content  json.RawMessage `json:"content"`
}

// Deliver passes a message of the page to the kernel. It does not wait. The error says what is wrong with the message, or that
// too many are waiting.
func (s *Sockets) Deliver(text []byte, buffers [][]byte) error {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("message from the page: %w", err)
	}
	for channel, queue := range s.received {
		if transport.Channel(channel).String() != m.Channel {
			continue
		}
		frames := [][]byte{[]byte(client), []byte(wire.Delimiter), nil, object(m.Header), object(m.Parent), object(m.Metadata), object(m.Content)}
		select {
		case queue <- append(frames, buffers...):
			return nil
		default:
			return fmt.Errorf("message from the page: %d messages are waiting on channel %s", len(queue), m.Channel)
		}
	}
	return fmt.Errorf("message from the page: there is no channel %q to the kernel", m.Channel)
}

// object returns text, or an empty object if there is none.
func object(text json.RawMessage) []byte {
	if len(text) == 0 || string(text) == "null" {
		return []byte("{}")
	}
	return text
}

// Receive returns the next message of a channel. On IOPub there are no subscriptions.
func (s *Sockets) Receive(ctx context.Context, channel transport.Channel) ([][]byte, error) {
	var queue chan [][]byte
	if channel < transport.IOPub {
		queue = s.received[channel]
	}
	select {
	case frames := <-queue:
		return frames, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Send passes a message to the page.
func (s *Sockets) Send(channel transport.Channel, frames [][]byte) error {
	at := 0
	for at < len(frames) && string(frames[at]) != wire.Delimiter {
		at++
	}
	if len(frames)-at < 6 {
		return fmt.Errorf("message to the page: %d frames after the identities, want at least 6", len(frames)-at)
	}
	parts := frames[at+2:]
	var text bytes.Buffer
	fmt.Fprintf(&text, `{"channel":%q`, channel)
	for i, name := range []string{"header", "parent_header", "metadata", "content"} {
		fmt.Fprintf(&text, `,%q:%s`, name, parts[i])
	}
	text.WriteByte('}')
	s.send(text.Bytes(), parts[4:])
	return nil
}
