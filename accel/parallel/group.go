package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Group is processes that compute together, and this one's place among them. The
// owner calls Close.
type Group struct {
	place     RankInfo
	addresses []string
	silence   time.Duration
	bucket    int // bytes

	next, previous *link      // of the ring; nil in a group of one
	one            sync.Mutex // held by the collective that runs
	number         uint64     // of the collectives so far; guarded by one
	room           rooms      // guarded by one

	hub     []*link       // the connections over which ranks watch each other
	broken  chan struct{} // closed when the group cannot be used any more
	end     chan struct{} // closed by Close
	watches sync.WaitGroup

	mu     sync.Mutex
	err    error        // why it is broken; guarded by mu
	left   map[int]bool // ranks that have closed their group; guarded by mu
	closed bool         // guarded by mu
	use    Use          // guarded by mu
	device devices      // guarded by mu
}

// Use is what a group has done so far.
type Use struct {
	Collectives int
	Bytes       int           // sent by this rank
	Time        time.Duration // in collectives, waiting for other ranks included
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

// Rank is the number of this process, from 0.
func (g *Group) Rank() int { return g.place.Rank }

// Size is the number of processes.
func (g *Group) Size() int { return g.place.Size }

// LocalRank is the number of this process among those of its machine: the GPU that
// it is to use.
func (g *Group) LocalRank() int { return g.place.LocalRank }

// LocalSize is the number of processes of this machine.
func (g *Group) LocalSize() int { return g.place.LocalSize }

// First tells whether this is rank 0, the one that prints, draws and writes files.
func (g *Group) First() bool { return g.place.Rank == 0 }

// Use is what the group has done so far.
func (g *Group) Use() Use {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.use
}

// String says which rank this is.
func (g *Group) String() string {
	text := fmt.Sprintf("rank %d of %d", g.place.Rank, g.place.Size)
	if g.place.Launcher != "" {
		text += " (" + g.place.Launcher + ")"
	}
	return text
}

// Err is why the group cannot be used any more, nil as long as it can.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil && g.closed {
		return ErrClosed
	}
	return g.err
}

// Fail says that this rank gives up with an error, so that the others do not wait for
// it: their collectives give a *LostError with the error's text.
func (g *Group) Fail(err error) {
	if err == nil || g.Size() == 1 {
		return
	}
	_ = g.breakWith(&LostError{g.Rank(), g.addresses[g.Rank()], "has given up: " + err.Error()})
}

// fail breaks the group with an error of its own, or of the rank that was lost, about
// which the one that watches may know more. It returns why the group is broken.
func (g *Group) fail(err error) error {
	if lost := (*LostError)(nil); errors.As(err, &lost) && lost.Rank != g.Rank() {
		select { // a neighbour that has gone may have done so because of another
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

// hearsay is how long a rank whose neighbour is gone waits to hear which one was the
// first to go.
const hearsay = time.Second

// breakWith ends all that waits, tells the others, and returns why the group is broken:
// the first error.
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

// Close leaves the group. The other ranks can go on with what does not need this one:
// nothing but their own Close.
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

// run makes one collective at a time, within a context.
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

// gone is the error of a connection with a neighbour that does not work any more.
func (g *Group) gone(l *link, err error) error {
	return &LostError{l.rank, g.addresses[l.rank], "ended: " + err.Error()}
}
