package kernel

import (
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// A client connects to all ports at once. Where it comes before the kernel
// listens it tries again in its own time, port by port: libzmq waits between 100
// and 200 ms. So the first request may be here before the subscription is, and
// what is published for it would be lost. It waits.
const (
	subscribes  = time.Second // how long after the start it waits for a subscriber
	mostUnheard = 256         // messages that wait
)

// unheard is what was published before anybody had subscribed.
type unheard struct {
	messages []wire.Outgoing
	over     *time.Timer
}

// awaitSubscriber keeps back what is published until somebody hears it.
func (p *publisher) awaitSubscriber() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unheard = &unheard{over: time.AfterFunc(subscribes, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sendUnheard()
	})}
}

// welcome publishes the first message that a subscriber hears, and then what has
// waited for one.
func (p *publisher) welcome(m wire.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
	p.send(m)
	p.sendUnheard()
}

// sendUnheard sends what waits for a subscriber, and lets nothing wait any more.
// The lock is held.
func (p *publisher) sendUnheard() {
	if p.unheard == nil {
		return
	}
	p.unheard.over.Stop()
	messages := p.unheard.messages
	p.unheard = nil
	for _, m := range messages {
		p.send(m)
	}
}

// sendLocked sends a message, or keeps it. The lock is held.
func (p *publisher) sendLocked(m wire.Outgoing) {
	if p.unheard == nil {
		p.send(m)
		return
	}
	p.unheard.messages = append(p.unheard.messages, m)
	if len(p.unheard.messages) >= mostUnheard {
		p.sendUnheard()
	}
}
