package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Group is a group of processes that compute together, and the rank of this one. The owner must
// call Close.
type Group struct {
	place     RankInfo
	addresses []string
	silence   time.Duration
	bucket    int // in bytes

	next, previous *link      // neighbours in the ring; nil in a group of one
	one            sync.Mutex // held by the running collective
	number         uint64     // number of collectives so far; guarded by one
	room           buffers    // guarded by one

	hub     []*link       // connections for heartbeats and notices
	broken  chan struct{} // closed when the group is broken
	end     chan struct{} // closed by Close
	watches sync.WaitGroup

	mu     sync.Mutex
	err    error        // why the group is broken; guarded by mu
	left   map[int]bool // ranks that have closed their group; guarded by mu
	closed bool         // guarded by mu
	use    Use          // guarded by mu
	device devices      // guarded by mu
}

// Use is the statistics of a group.
type Use struct {
	Collectives int
	Bytes       int           // sent by this rank
	Time        time.Duration // in collectives, including waiting for other ranks
}

func newGroup(j *joining) *Group {
	p := *j.place
	if p.LocalSize == 0 {
		p.LocalSize = 1
	}
	p.LocalRank = max(p.LocalRank, 0)
	return &Group{
		place: p, addresses: j.addresses, silence: j.silence, bucket: j.bucket,
		broken: make(chan struct{}), end: make(chan struct{}), left: map[int]bool{},
	}
}

// Rank returns the rank of this process, from 0.
func (g *Group) Rank() int { return g.place.Rank }

// Size returns the number of processes.
func (g *Group) Size() int { return g.place.Size }

// LocalRank returns the rank of this process among those of its machine: the index of the GPU
// to use.
func (g *Group) LocalRank() int { return g.place.LocalRank }

// LocalSize returns the number of processes on this machine.
func (g *Group) LocalSize() int { return g.place.LocalSize }

// First reports whether this is rank 0, which prints, draws and writes files.
func (g *Group) First() bool { return g.place.Rank == 0 }

// Use returns the statistics so far.
func (g *Group) Use() Use {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.use
}

// String returns the rank and the size.
func (g *Group) String() string {
	text := fmt.Sprintf("rank %d of %d", g.place.Rank, g.place.Size)
	if g.place.Launcher != "" {
		text += " (" + g.place.Launcher + ")"
	}
	return text
}

// Err returns why the group is broken, or nil.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil && g.closed {
		return ErrClosed
	}
	return g.err
}

// Fail announces that this rank gives up with an error, so that the others do not wait for it:
// their collectives return a *LostError with the text of the error.
func (g *Group) Fail(err error) {
	if err == nil || g.Size() == 1 {
		return
	}
	_ = g.breakWith(&LostError{g.Rank(), g.addresses[g.Rank()], "has given up: " + err.Error()})
}

// fail breaks the group with an error of this rank or about a lost rank, for which the
// heartbeat may have a better explanation. It returns why the group is broken.
func (g *Group) fail(err error) error {
	if lost := (*LostError)(nil); errors.As(err, &lost) && lost.Rank != g.Rank() {
		select { // a lost neighbour may have left because of another rank
		case <-g.broken:
		case <-g.end:
		case <-time.After(hearsay):
			g.mu.Lock()
			if g.left[lost.Rank] {
				err = &LostError{lost.Rank, lost.Address, "has left the group"}
			}
			g.mu.Unlock()
		}
	}
	return g.breakWith(err)
}

// hearsay is how long a rank that has lost a neighbour waits for a notice about which rank
// failed first.
const hearsay = time.Second

// breakWith ends all waiting operations, notifies the other ranks, and returns why the group is
// broken: the first error.
func (g *Group) breakWith(err error) error {
	g.mu.Lock()
	if g.err != nil || g.closed {
		defer g.mu.Unlock()
		if g.err == nil {
			return ErrClosed
		}
		return g.err
	}
	g.err = err
	links := append([]*link{g.next, g.previous}, g.hub...)
	close(g.broken)
	g.mu.Unlock()
	g.announce(err)
	g.abortDevices()
	for _, l := range links[:2] {
		if l != nil {
			l.close()
		}
	}
	return err
}

// Close leaves the group. After that the other ranks can only Close as well.
func (g *Group) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	whole := g.err == nil
	g.mu.Unlock()
	err := g.closeDevices(whole)
	if whole {
		g.tell(notice{Kind: leaves, Rank: g.Rank()})
	}
	close(g.end)
	for _, l := range append([]*link{g.next, g.previous}, g.hub...) {
		if l != nil {
			l.close()
		}
	}
	g.watches.Wait()
	return err
}

// run runs one collective at a time, within a context.
func (g *Group) run(ctx context.Context, c call, f func() error) (err error) {
	if err := g.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return g.breakWith(fmt.Errorf("parallel: %v on rank %d: %w", c, g.Rank(), err))
	}
	g.one.Lock()
	defer g.one.Unlock()
	if err := g.Err(); err != nil {
		return err
	}
	begin := time.Now()
	g.number++
	stop := context.AfterFunc(ctx, func() {
		_ = g.breakWith(fmt.Errorf("parallel: %v on rank %d: %w", c, g.Rank(), ctx.Err()))
	})
	defer stop()
	if g.Size() > 1 {
		err = f()
	}
	g.mu.Lock()
	g.use.Collectives++
	g.use.Time += time.Since(begin)
	g.mu.Unlock()
	if err != nil {
		return g.fail(err)
	}
	return nil
}

// sent counts bytes.
func (g *Group) sent(bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use.Bytes += bytes
}

// gone returns the error for a broken connection with a neighbour.
func (g *Group) gone(l *link, err error) error {
	return &LostError{l.rank, g.addresses[l.rank], "ended: " + err.Error()}
}
