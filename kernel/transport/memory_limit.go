package transport

import (
	"io"
	"slices"
	"sync"
)

// memoryLimit bounds the memory that all connections of a kernel together use for peers that
// have not been authenticated. When it is full, the connection that uses the most is
// closed, so a peer with a short message always gets through.
type memoryLimit struct {
	limit int64

	mu    sync.Mutex
	total int64
	held  map[*memoryShare]int64
}

func newMemoryLimit(limit int64) *memoryLimit {
	return &memoryLimit{limit: limit, held: map[*memoryShare]int64{}}
}

// memoryShare is the share of one connection.
type memoryShare struct {
	memory *memoryLimit
	evict  func() // closes the connection

	authenticated bool // the peer has been authenticated and is no longer counted; protected by memory.mu
}

// share starts counting a connection. evict is called to close it.
func (t *memoryLimit) share(evict func()) *memoryShare { return &memoryShare{memory: t, evict: evict} }

// take counts n bytes before they are allocated.
func (h *memoryShare) take(n int64) error {
	if h == nil {
		return nil
	}
	t := h.memory
	var evicted []*memoryShare
	defer func() {
		for _, other := range evicted {
			other.evict()
		}
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.authenticated {
		return nil
	}
	for t.total+n > t.limit {
		largest, most := h, t.held[h]+n
		for other, size := range t.held {
			if size > most {
				largest, most = other, size
			}
		}
		if largest == h {
			return violation("%d bytes without a message with a valid signature (%d bytes on all connections)", most, t.total+n)
		}
		evicted = append(evicted, largest)
		t.drop(largest)
	}
	t.total += n
	t.held[h] += n
	return nil
}

// give subtracts n bytes.
func (h *memoryShare) give(n int64) {
	if h == nil {
		return
	}
	t := h.memory
	t.mu.Lock()
	defer t.mu.Unlock()
	if n = min(n, t.held[h]); n > 0 {
		t.total -= n
		t.held[h] -= n
	}
}

// release subtracts all bytes of a connection.
func (h *memoryShare) release() {
	if h == nil {
		return
	}
	h.memory.mu.Lock()
	defer h.memory.mu.Unlock()
	h.memory.drop(h)
}

// authenticate stops counting a connection whose peer has been authenticated.
func (h *memoryShare) authenticate() {
	if h == nil {
		return
	}
	h.memory.mu.Lock()
	defer h.memory.mu.Unlock()
	h.authenticated = true
	h.memory.drop(h)
}

// drop removes a connection. The lock is held.
func (t *memoryLimit) drop(h *memoryShare) {
	t.total -= t.held[h]
	delete(t.held, h)
}

// firstPiece is how much of a frame is allocated before any of it has arrived.
const firstPiece = 4 << 10

// readGrowing appends size bytes from r to header. Memory grows with the bytes that
// arrive, not with the size that was announced. The capacity of the result has been
// counted in h.
func readGrowing(r io.Reader, header []byte, size int64, h *memoryShare) ([]byte, error) {
	whole := int64(len(header)) + size
	room := min(whole, int64(len(header))+firstPiece)
	if err := h.take(room); err != nil {
		return nil, err
	}
	frame := append(make([]byte, 0, room), header...)
	for int64(len(frame)) < whole {
		if len(frame) == cap(frame) {
			room := min(2*int64(cap(frame)), whole)
			if err := h.take(room - int64(cap(frame))); err != nil {
				return nil, err
			}
			frame = append(make([]byte, 0, room), frame...)
		}
		start := len(frame)
		frame = frame[:min(cap(frame), int(whole))]
		if _, err := io.ReadFull(r, frame[start:]); err != nil {
			return nil, err
		}
	}
	return slices.Clip(frame), nil
}
