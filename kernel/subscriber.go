package kernel

import (
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// A client connects to all ports at once. If it tries before the kernel listens, it
// retries each port on its own schedule: libzmq waits 100 to 200 ms. So the first request
// may arrive before the subscription, and messages published for it would be lost. Until
// a client has subscribed, published messages are kept.
const (
	subscriberTime = time.Second // how long after the start to wait for a subscriber
	maxKept        = 256         // how many messages to keep
)

// unsubscribed are the messages that were published before the first subscription.
type unsubscribed struct {
	messages []wire.Outgoing
	timer    *time.Timer
}

// awaitSubscriber makes the publisher keep messages until the first subscription.
func (p *publisher) awaitSubscriber() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = &unsubscribed{timer: time.AfterFunc(subscriberTime, func() {
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
