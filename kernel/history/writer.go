package history

import (
	"context"
	"errors"
	"sync"
	"time"
)

// store is the storage of a writer: a file, or a fake in tests. Its methods are called
// from one goroutine. They may block, but should return soon after ctx ends if the system
// permits.
type store interface {
	// open starts a session and returns its number.
	open(ctx context.Context) (session int, err error)
	// past returns the entries of earlier sessions.
	past() []Entry
	// append writes entries of this session.
	append(ctx context.Context, entries []Entry) error
	close()
}

// timeout is how long a query, or the shutdown of the kernel, waits for the store.
const timeout = time.Second

// Limits of the queue for the store. Entries beyond them are not stored.
const (
	maxWaiting      = 1000
	maxWaitingBytes = 4 << 20
)

// ErrOverflow reports that entries are not stored because the file system does not
// respond.
var ErrOverflow = errors.New("history: the file system does not respond; further cells are kept in memory only")

// writer uses a store from one goroutine, so that its callers need not wait for the
// store.
type writer struct {
	store   store
	failed  func(error)
	timeout time.Duration // the constant; longer in tests

	opened    chan struct{}      // closed when opening the store has succeeded or failed
	questions chan chan []Entry  // requests for the past entries
	work      chan struct{}      // holds a token while entries are queued
	closing   chan struct{}      // closed by close
	done      chan struct{}      // closed at the end of the goroutine
	stop      context.CancelFunc // cancels the store's operation
	once      sync.Once          // for close

	mu       sync.Mutex
	session  int // 0 until the store is open, or if it cannot be used
	busy     time.Time
	waiting  []Entry
	bytes    int  // size of the queued entries
	reported bool // failed has been called
}

// newWriter starts the writer of a store.
func newWriter(s store, failed func(error)) *writer {
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{
		store: s, failed: failed, stop: stop, timeout: timeout,
		opened: make(chan struct{}), questions: make(chan chan []Entry), work: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
		busy: time.Now(),
	}
	go w.run(ctx)
	return w
}

func (w *writer) run(ctx context.Context) {
	defer close(w.done)
	defer w.store.close()
	session, err := w.store.open(ctx)
	w.mu.Lock()
	if err == nil {
		w.session = session
	}
	w.mu.Unlock()
	close(w.opened)
	if err != nil {
		w.report(err)
		return
	}
	for {
		w.idle()
		select {
		case <-w.work:
			w.write(ctx)
		case answer := <-w.questions:
			w.begin()
			answer <- w.store.past()
		case <-w.closing:
			w.write(ctx)
			return
		}
	}
}

// idle records that the store is idle.
func (w *writer) idle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = time.Time{}
}

// begin records that the store is busy.
func (w *writer) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = time.Now()
}

// write stores the queued entries. If that fails, they remain queued for the next
// attempt.
func (w *writer) write(ctx context.Context) {
	w.begin()
	w.mu.Lock()
	entries, bytes := w.waiting, w.bytes
	w.waiting, w.bytes = nil, 0
	for i := range entries {
		entries[i].Session = w.session
	}
	w.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	if err := w.store.append(ctx, entries); err != nil {
		w.mu.Lock()
		w.waiting = append(entries, w.waiting...)
		w.bytes += bytes
		w.mu.Unlock()
		w.report(err)
	}
}

// add queues an entry.
func (w *writer) add(e Entry) {
	select {
	case <-w.done: // the store cannot be used or has been closed
		return
	default:
	}
	w.mu.Lock()
	full := len(w.waiting) >= maxWaiting || w.bytes+e.size() > maxWaitingBytes
	if !full {
		w.waiting = append(w.waiting, e)
		w.bytes += e.size()
	}
	w.mu.Unlock()
	if full {
		w.report(ErrOverflow)
		return
	}
	select {
	case w.work <- struct{}{}:
	default:
	}
}

// report calls failed with the first error.
func (w *writer) report(err error) {
	w.mu.Lock()
	reported := w.reported
	w.reported = true
	w.mu.Unlock()
	if !reported && w.failed != nil {
		w.failed(err)
	}
}

// timer returns a timer for a query. If the store has been busy for long, queries do not
// each wait for it again.
func (w *writer) timer() *time.Timer {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := w.timeout
	if !w.busy.IsZero() {
		wait -= time.Since(w.busy)
	}
	return time.NewTimer(max(wait, 0))
}

// number returns the number of the session.
func (w *writer) number() int {
	timeout := w.timer()
	defer timeout.Stop()
	select {
	case <-w.opened:
	case <-timeout.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.session, 1)
}

// past returns the entries of earlier sessions, or nil if the store does not respond.
func (w *writer) past() []Entry {
	timeout := w.timer()
	defer timeout.Stop()
	answer := make(chan []Entry, 1)
	select {
	case w.questions <- answer:
	case <-timeout.C:
		return nil
	case <-w.done:
		return nil
	}
	select {
	case entries := <-answer:
		return entries
	case <-timeout.C:
		return nil
	}
}

// close stops the writer. If it does not stop in time, an operation of the store may
// still continue in the background.
func (w *writer) close() {
	w.once.Do(func() { close(w.closing) })
	defer w.stop()
	timeout := time.NewTimer(w.timeout)
	defer timeout.Stop()
	select {
	case <-w.done:
	case <-timeout.C:
	}
}
