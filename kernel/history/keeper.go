package history

import (
	"context"
	"errors"
	"sync"
	"time"
)

// store is what a keeper keeps entries in: a file, or a fake in tests. Its methods
// are called by one goroutine. They may take for ever, but return soon after ctx ends
// where the system lets them.
type store interface {
	// open begins a session and returns its number.
	open(ctx context.Context) (session int, err error)
	// past returns the entries of earlier sessions.
	past() []Entry
	// append writes entries of this session.
	append(ctx context.Context, entries []Entry) error
	close()
}

// patience is how long a question, or the end of the kernel, waits for the store.
const patience = time.Second

// The bounds of what waits for the store. What comes then is not written.
const (
	maxWaiting      = 1000
	maxWaitingBytes = 4 << 20
)

// ErrOverflow reports cells that are not written, since the file system takes none.
var ErrOverflow = errors.New("history: the file system does not answer; further cells are kept in memory only")

// keeper has one goroutine use a store, so that nobody else waits for it.
type keeper struct {
	store    store
	failed   func(error)
	patience time.Duration // as the constant; tests have more

	opened    chan struct{}      // closed when the store has been opened, or cannot be
	questions chan chan []Entry  // each wants the past
	work      chan struct{}      // holds a token while entries wait
	closing   chan struct{}      // closed by close
	done      chan struct{}      // closed at the end of the goroutine
	stop      context.CancelFunc // ends what the goroutine waits for
	once      sync.Once          // of close

	mu      sync.Mutex
	session int // 0 until opened; stays so if the store cannot be used
	busy    time.Time
	waiting []Entry
	bytes   int  // of their texts
	told    bool // failed was called
}

// keep starts the keeper of a store.
func keep(s store, failed func(error)) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{
		store: s, failed: failed, stop: stop, patience: patience,
		opened: make(chan struct{}), questions: make(chan chan []Entry), work: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
		busy: time.Now(),
	}
	go k.run(ctx)
	return k
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	defer k.store.close()
	session, err := k.store.open(ctx)
	k.mu.Lock()
	if err == nil {
		k.session = session
	}
	k.mu.Unlock()
	close(k.opened)
	if err != nil {
		k.report(err)
		return
	}
	for {
		k.rest()
		select {
		case <-k.work:
			k.write(ctx)
		case answer := <-k.questions:
			k.begin()
			answer <- k.store.past()
		case <-k.closing:
			k.write(ctx)
			return
		}
	}
}

// rest marks the keeper as idle.
func (k *keeper) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = time.Time{}
}

// begin marks the keeper as busy.
func (k *keeper) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = time.Now()
}

// write writes what waits. What cannot be written waits for the next attempt.
func (k *keeper) write(ctx context.Context) {
	k.begin()
	k.mu.Lock()
	entries, bytes := k.waiting, k.bytes
	k.waiting, k.bytes = nil, 0
	for i := range entries {
		entries[i].Session = k.session
	}
	k.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	if err := k.store.append(ctx, entries); err != nil {
		k.mu.Lock()
		k.waiting = append(entries, k.waiting...)
		k.bytes += bytes
		k.mu.Unlock()
		k.report(err)
	}
}

// add has an entry written.
func (k *keeper) add(e Entry) {
	select {
	case <-k.done: // the store cannot be used, or the history was closed
		return
	default:
	}
	k.mu.Lock()
	full := len(k.waiting) >= maxWaiting || k.bytes+e.size() > maxWaitingBytes
	if !full {
		k.waiting = append(k.waiting, e)
		k.bytes += e.size()
	}
	k.mu.Unlock()
	if full {
		k.report(ErrOverflow)
		return
	}
	select {
	case k.work <- struct{}{}:
	default:
	}
}

// report calls failed with the first error.
func (k *keeper) report(err error) {
	k.mu.Lock()
	told := k.told
	k.told = true
	k.mu.Unlock()
	if !told && k.failed != nil {
		k.failed(err)
	}
}

// timeout returns a timer for a question. A keeper that has been busy for long is not
// waited for again by each question.
func (k *keeper) timeout() *time.Timer {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait := k.patience
	if !k.busy.IsZero() {
		wait -= time.Since(k.busy)
	}
	return time.NewTimer(max(wait, 0))
}

// number returns the number of the session.
func (k *keeper) number() int {
	timeout := k.timeout()
	defer timeout.Stop()
	select {
	case <-k.opened:
	case <-timeout.C:
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(k.session, 1)
}

// past returns the entries of earlier sessions, or nothing if the store does not
// answer.
func (k *keeper) past() []Entry {
	timeout := k.timeout()
	defer timeout.Stop()
	answer := make(chan []Entry, 1)
	select {
	case k.questions <- answer:
	case <-timeout.C:
		return nil
	case <-k.done:
		return nil
	}
	select {
	case entries := <-answer:
		return entries
	case <-timeout.C:
		return nil
	}
}

// close ends the keeper. What the store does then still do it does behind our back.
func (k *keeper) close() {
	k.once.Do(func() { close(k.closing) })
	defer k.stop()
	timeout := time.NewTimer(k.patience)
	defer timeout.Stop()
	select {
	case <-k.done:
	case <-timeout.C:
	}
}
