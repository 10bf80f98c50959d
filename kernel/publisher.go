package kernel

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/kernel/wire"
)

// The first write of a cell is published at once, so that it is seen at once.
// What follows waits this long, or until there is this much of it: front ends
// cut a kernel off that publishes more than about a thousand messages a second.
const (
	joinFor   = 50 * time.Millisecond
	joinBytes = 64 << 10
)

// publisher publishes on iopub, in the order in which it is called.
type publisher struct {
	send func(wire.Outgoing)

	mu       sync.Mutex // held while sending, which orders the messages
	pending  streamKey
	text     []byte               // waits to be published, of the stream pending
	cut      map[streamKey][]byte // the first bytes of a character that is not whole yet
	last     time.Time            // when stream output was published last
	lastOf   string               // the parent of that
	deadline *time.Timer          // runs while text waits
	closed   bool
	unheard  *unheard // nil once there is, or should be, somebody who hears
}

// streamKey names a stream of a cell. The parent stands for the cell.
type streamKey struct {
	parent string
	name   string
}

func newPublisher(send func(wire.Outgoing)) *publisher {
	p := &publisher{send: send, cut: map[streamKey][]byte{}}
	p.deadline = time.AfterFunc(time.Hour, p.flush)
	p.deadline.Stop()
	return p
}

// publish sends a message behind all stream output so far.
func (p *publisher) publish(typ wire.Type, parent json.RawMessage, content any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.sendLocked(wire.Outgoing{Type: typ, Parent: parent, Content: content})
}

// publishMessage is publish with a topic and buffers.
func (p *publisher) publishMessage(m wire.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.sendLocked(m)
}

// stream publishes output of a cell, joined with what came just before and what
// comes soon.
func (p *publisher) stream(parent json.RawMessage, name string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := streamKey{string(parent), name}
	if key != p.pending {
		p.flushLocked()
		p.pending = key
	}
	for len(text) > 0 {
		if start := p.cut[key]; start != nil {
			delete(p.cut, key)
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

// flush publishes what waits.
func (p *publisher) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
}

// end publishes what waits and the halves of characters that never became
// whole, at the end of a cell.
func (p *publisher) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	for key, start := range p.cut {
		p.sendStream(key, start)
	}
	clear(p.cut)
}

// close publishes what waits; nothing waits from then on.
func (p *publisher) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.closed = true
	p.sendUnheard()
}

func (p *publisher) flushLocked() {
	if len(p.text) == 0 {
		return
	}
	p.deadline.Stop()
	whole := len(p.text) - cutLength(p.text)
	if whole < len(p.text) {
		p.cut[p.pending] = append([]byte(nil), p.text[whole:]...)
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

// cutLength returns how many bytes at the end of b are the start of a character
// whose rest may still come.
func cutLength(b []byte) int {
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
