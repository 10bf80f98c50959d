package transport

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"sync"
	"time"
)

// outbox queues messages for a peer and writes them. put does not wait for the peer
// unless the queue is full, and then only while the peer reads.
type outbox struct {
	conn   net.Conn
	limits limits
	drops  bool // a peer that stalls loses messages instead of its connection
	log    *slog.Logger

	mu      sync.Mutex
	queue   []net.Buffers // complete messages
	size    int64         // bytes in the queue and being written
	written int64         // bytes written so far
	closed  bool          // accepts no more messages
	lagging bool          // large messages are dropped until the queue is half empty
	dropped int           // number of messages dropped
	pongs   int           // replies to PINGs queued since the queue was empty
	full    time.Time     // when progress was last checked; zero while the queue has space
	taken   int64         // value of written at that time
	changed chan struct{} // closed at each change
}

func newOutbox(conn net.Conn, limits limits, drops bool, log *slog.Logger) *outbox {
	return &outbox{conn: conn, limits: limits, drops: drops, log: log, changed: make(chan struct{})}
}

// notify wakes the waiting goroutines. The lock is held.
func (o *outbox) notify() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// put appends a message of size bytes. A subscriber that lags loses output, but not the
// small messages that say that a cell has ended, since it would wait forever. put returns
// net.ErrClosed if the connection is closed or the peer has stalled.
func (o *outbox) put(message net.Buffers, size int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lagging && o.size <= o.limits.queue/2 {
		o.lagging = false
		o.log.Warn("client reads again", "dropped", o.dropped)
		o.dropped = 0
	}
	if !o.lagging && !o.waitForSpace(size) {
		if !o.drops {
			o.log.Warn("client disconnected: it does not read", "waiting", o.size)
			o.closed = true
			o.notify()
			o.conn.Close()
			return net.ErrClosed
		}
		o.log.Warn("client does not read: it loses messages", "waiting", o.size)
		o.lagging = true
	}
	switch {
	case o.closed:
		return net.ErrClosed
	case o.lagging && (size > o.limits.small || o.size+size > o.limits.queue+o.limits.spare):
		o.dropped++
		return nil
	}
	o.queue = append(o.queue, message)
	o.size += size
	o.notify()
	return nil
}

// maxPongs is how many replies to PINGs may wait. A peer that sends more PINGs does not
// read them.
const maxPongs = 64

// pong queues the reply to a PING unless too many are waiting.
func (o *outbox) pong(frame []byte) error {
	o.mu.Lock()
	o.pongs++
	many := o.pongs > maxPongs
	o.mu.Unlock()
	if many {
		return nil
	}
	return o.put(net.Buffers{frame}, int64(len(frame)))
}

// waitForSpace waits until the queue has space, and returns false if the peer stalls. An
// empty queue has space for any message. The lock is held, except while waiting.
//
// Progress is measured over all messages that had to wait since the queue was first full:
// a peer that slowly makes space for one message at a time stalls.
func (o *outbox) waitForSpace(size int64) bool {
	if o.size <= o.limits.queue/2 {
		o.full = time.Time{}
	}
	for o.size > 0 && o.size+size > o.limits.queue && !o.closed {
		now := time.Now()
		switch {
		case o.full.IsZero():
			o.full, o.taken = now, o.written
		case now.Sub(o.full) < o.limits.stall:
		case o.written-o.taken < o.limits.progress:
			return false
		default:
			o.full, o.taken = now, o.written
		}
		timer, changed := time.NewTimer(o.limits.stall-now.Sub(o.full)), o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
		o.mu.Lock()
	}
	return true
}

// writeBuffers is how many slices are written at once; operating systems allow 1024.
const writeBuffers = 512

// run writes until the outbox is closed and empty or a write fails. Then it closes the
// connection.
func (o *outbox) run() {
	defer o.conn.Close()
	for {
		messages := o.take()
		if messages == nil {
			return
		}
		var batch net.Buffers
		var size int64
		flush := func() bool {
			ok := o.write(batch, size)
			batch, size = batch[:0], 0
			return ok
		}
		for _, message := range messages {
			for _, b := range message {
				for int64(len(b)) > o.limits.batch {
					batch, size, b = append(batch, b[:o.limits.batch]), size+o.limits.batch, b[o.limits.batch:]
					if !flush() {
						return
					}
				}
				batch, size = append(batch, b), size+int64(len(b))
				if (size >= o.limits.batch || len(batch) >= writeBuffers) && !flush() {
					return
				}
			}
		}
		if len(batch) > 0 && !flush() {
			return
		}
	}
}

// take waits for messages and removes as many as are written at once, at least one. They
// stay in memory until all of them have been written. It returns nil at the end.
func (o *outbox) take() (messages []net.Buffers) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		changed := o.changed
		o.mu.Unlock()
		<-changed
		o.mu.Lock()
	}
	defer func() {
		if len(o.queue) == 0 {
			o.pongs = 0
		}
	}()
	var size int64
	var buffers int
	for len(o.queue) > 0 && size < o.limits.batch && buffers < writeBuffers {
		messages = append(messages, o.queue[0])
		for _, b := range o.queue[0] {
			size += int64(len(b))
			buffers++
		}
		o.queue[0] = nil
		o.queue = o.queue[1:]
	}
	return messages
}

func (o *outbox) write(batch net.Buffers, size int64) bool {
	_, err := batch.WriteTo(o.conn)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= size
	o.written += size
	if err != nil {
		o.closed, o.queue, o.size = true, nil, 0
	}
	o.notify()
	return err == nil
}

// close stops accepting messages. The waiting ones are written for at most the time
// linger.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		// Setting the deadline fails only on a connection that has failed.
		_ = o.conn.SetWriteDeadline(time.Now().Add(o.limits.linger))
		o.notify()
	}
}

// drain waits until all messages have been written or will be dropped.
func (o *outbox) drain(ctx context.Context) error {
	for {
		o.mu.Lock()
		empty, changed := o.size == 0 || o.lagging, o.changed
		o.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// assembler joins the bytes of frames, split in any way, into complete messages. It keeps
// the slices that it is given.
type assembler struct {
	skip   int // bytes to skip at the beginning
	header []byte
	body   int64 // bytes of the current body still to come
	more   bool  // frames of the message still to come

	message net.Buffers
	size    int64
}

// write takes the next bytes and calls emit for each message that they complete.
func (a *assembler) write(p []byte, emit func(message net.Buffers, size int64) error) error {
	n := min(a.skip, len(p))
	a.skip -= n
	p = p[n:]
	for len(p) > 0 {
		if a.body == 0 {
			p = a.readHeader(p)
		} else {
			n := min(a.body, int64(len(p)))
			a.message = append(a.message, p[:n:n])
			a.size += n
			a.body -= n
			p = p[n:]
		}
		if a.body == 0 && len(a.header) == 0 && !a.more && len(a.message) > 0 {
			message, size := a.message, a.size
			a.message, a.size = nil, 0
			if err := emit(message, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// readHeader takes bytes of a header from the start of p and returns the rest.
func (a *assembler) readHeader(p []byte) []byte {
	a.header = append(a.header, p[0])
	need := 2
	if a.header[0]&flagLong != 0 {
		need = 9
	}
	n := min(need-len(a.header), len(p)-1)
	a.header = append(a.header, p[1:1+n]...)
	if len(a.header) == need {
		a.more = a.header[0]&flagMore != 0
		if need == 9 {
			a.body = int64(binary.BigEndian.Uint64(a.header[1:]))
		} else {
			a.body = int64(a.header[1])
		}
		a.message = append(a.message, a.header)
		a.size += int64(need)
		a.header = nil
	}
	return p[1+n:]
}
