package kernel

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/kernel/wire"
)

// The first write of a cell is published at once, so that it is shown at once. Later
// writes wait for joinFor, or until there are joinBytes: front ends disconnect kernels
// that publish more than about a thousand messages a second.
const (
	joinFor   = 50 * time.Millisecond
	joinBytes = 64 << 10
)

// publisher publishes messages on iopub in the order of its calls.
type publisher struct {
	send func(wire.Outgoing)

	mu       sync.Mutex // held while sending, so messages are sent in order
	pending  streamKey
	text     []byte               // waiting to be published, of the stream pending
	partial  map[streamKey][]byte // the first bytes of an incomplete character
	last     time.Time            // when stream output was published last
	lastOf   string               // the parent of that output
	deadline *time.Timer          // running while text is waiting
	closed   bool
	kept     *unsubscribed // messages that wait for the first subscriber; nil once it has subscribed
}

// streamKey identifies a stream of a cell by the parent header.
type streamKey struct {
	parent string
	name   string
}

func newPublisher(send func(wire.Outgoing)) *publisher {
	p := &publisher{send: send, partial: map[streamKey][]byte{}}
	p.deadline = time.AfterFunc(time.Hour, p.flush)
	p.deadline.Stop()
	return p
}

// publish sends a message after all stream output so far.
func (p *publisher) publish(typ wire.Type, parent json.RawMessage, content any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.sendLocked(wire.Outgoing{Type: typ, Parent: parent, Content: content})
}

// publishMessage is publish for messages with a topic or buffers.
func (p *publisher) publishMessage(m wire.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.sendLocked(m)
}

// stream publishes output of a cell. It is joined with output shortly before and after
// it.
func (p *publisher) stream(parent json.RawMessage, name string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := streamKey{string(parent), name}
	if key != p.pending {
		p.flushLocked()
		p.pending = key
	}
	for len(text) > 0 {
		if start := p.partial[key]; start != nil {
			delete(p.partial, key)
			p.text = append(p.text, start...)
		}
		n := min(len(text), max(joinBytes-len(p.text), 1))
		p.text = append(p.text, text[:n]...)
		text = text[n:]
		if len(p.text) >= joinBytes {
			p.flushLocked()
		}
	}
	switch wait := joinFor - time.Since(p.last); {
	case len(p.text) == 0:
	case wait <= 0 || p.closed || key.parent != p.lastOf:
		p.flushLocked()
	default:
		p.deadline.Reset(wait)
	}
}

// flush publishes the waiting text.
func (p *publisher) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
}

// end publishes the waiting text and incomplete characters, at the end of a cell.
func (p *publisher) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	for key, start := range p.partial {
		p.sendStream(key, start)
	}
	clear(p.partial)
}

// close publishes the waiting text. From then on no text waits.
func (p *publisher) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.closed = true
	p.sendKept()
}

func (p *publisher) flushLocked() {
	if len(p.text) == 0 {
		return
	}
	p.deadline.Stop()
	whole := len(p.text) - partialRune(p.text)
	if whole < len(p.text) {
		p.partial[p.pending] = append([]byte(nil), p.text[whole:]...)
	}
	if whole > 0 {
		p.sendStream(p.pending, p.text[:whole])
		p.last, p.lastOf = time.Now(), p.pending.parent
	}
	p.text = p.text[:0]
}

func (p *publisher) sendStream(key streamKey, text []byte) {
	p.sendLocked(wire.Outgoing{
		Type:    wire.Stream,
		Parent:  json.RawMessage(key.parent),
		Content: wire.Text{Name: key.name, Text: string(text)},
	})
}

// partialRune returns the number of bytes at the end of b that are the beginning of an
// incomplete character.
func partialRune(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if start := b[len(b)-n]; utf8.RuneStart(start) {
			if start >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// A client connects to all ports at once. If it tries before the kernel listens, it
// retries each port on its own schedule: libzmq waits 100 to 200 ms. So the first request
// may arrive before the subscription, on a busy machine by seconds, and messages published for
// it would be lost. Until a client has subscribed, published messages are kept.
const (
	subscriberTime = time.Minute // how long after the start to wait for a subscriber
	maxKept        = 256         // how many messages to keep
)

// unsubscribed are the messages that were published before the first subscription.
type unsubscribed struct {
	messages []wire.Outgoing
	timer    *time.Timer
}

// awaitSubscriber makes the publisher keep messages until the first subscription, for at most a time.
func (p *publisher) awaitSubscriber(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = &unsubscribed{timer: time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sendKept()
	})}
}

// welcome sends iopub_welcome to a new subscriber, followed by the kept messages.
func (p *publisher) welcome(m wire.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.send(m)
	p.sendKept()
}

// sendKept sends the kept messages and stops keeping messages. The lock is held.
func (p *publisher) sendKept() {
	if p.kept == nil {
		return
	}
	p.kept.timer.Stop()
	messages := p.kept.messages
	p.kept = nil
	for _, m := range messages {
		p.send(m)
	}
}

// sendLocked sends a message, or keeps it for the first subscriber. The lock is held.
func (p *publisher) sendLocked(m wire.Outgoing) {
	if p.kept == nil {
		p.send(m)
		return
	}
	p.kept.messages = append(p.kept.messages, m)
	if len(p.kept.messages) >= maxKept {
		p.sendKept()
	}
}
