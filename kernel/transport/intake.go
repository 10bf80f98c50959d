package transport

import (
	"io"
	"slices"
	"sync"
)

// intake bounds what all connections of a kernel together keep in memory for peers
// that have not shown yet that they know the key. When it is full the connection that
// keeps the most is closed, so that one with a short message always gets through.
type intake struct {
	limit int64

	mu    sync.Mutex
	total int64
	held  map[*holding]int64
}

func newIntake(limit int64) *intake { return &intake{limit: limit, held: map[*holding]int64{}} }

// holding is the part of one connection.
type holding struct {
	intake *intake
	evict  func() // closes the connection

	known bool // the peer knows the key, and is not counted; intake.mu is held
}

// hold begins to count a connection.
func (t *intake) hold(evict func()) *holding { return &holding{intake: t, evict: evict} }

// take counts bytes in before they are allocated.
func (h *holding) take(n int64) error {
	if h == nil {
		return nil
	}
	t := h.intake
	var evicted []*holding
	defer func() {
		for _, other := range evicted {
			other.evict()
		}
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.known {
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
			return violation("%d bytes before a message with a valid signature, and %d of all connections", most, t.total+n)
		}
		evicted = append(evicted, largest)
		t.drop(largest)
	}
	t.total += n
	t.held[h] += n
	return nil
}

// give counts bytes out.
func (h *holding) give(n int64) {
	if h == nil {
		return
	}
	t := h.intake
	t.mu.Lock()
	defer t.mu.Unlock()
	if n = min(n, t.held[h]); n > 0 {
		t.total -= n
		t.held[h] -= n
	}
}

// release counts out all of a connection.
func (h *holding) release() {
	if h == nil {
		return
	}
	h.intake.mu.Lock()
	defer h.intake.mu.Unlock()
	h.intake.drop(h)
}

// trust is called when the peer has shown that it knows the key.
func (h *holding) trust() {
	if h == nil {
		return
	}
	h.intake.mu.Lock()
	defer h.intake.mu.Unlock()
	h.known = true
	h.intake.drop(h)
}

// drop removes a connection. The lock is held.
func (t *intake) drop(h *holding) {
	t.total -= t.held[h]
	delete(t.held, h)
}

// firstPiece is how much of a frame is allocated before any of it has come.
const firstPiece = 4 << 10

// readGrowing appends size bytes to header, so that memory grows with what has come
// and not with what was announced. The capacity of the result has been taken.
func readGrowing(r io.Reader, header []byte, size int64, h *holding) ([]byte, error) {
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
