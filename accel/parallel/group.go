package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
)

// Group is a group of processes that compute together, and the rank of this one. The owner must
// call Close.
type Group struct {
	info             RankInfo
	joined           *joiner // how this rank has joined; sub-groups join in the same way
	names            []int   // of a sub-group: the rank of each of its ranks in the whole group; nil for the whole group
	addresses        []string
	heartbeatTimeout time.Duration
	bucket           int // in bytes
	elastic          bool
	changing         chan struct{} // closed when the ranks of an elastic group change

	next, previous *link      // neighbors in the ring; nil in a group of one
	running        sync.Mutex // held by the running collective
	sequence       uint64     // number of collectives so far; guarded by running
	buffers        buffers    // guarded by running

	hub     []*link       // connections for heartbeats and notices
	broken  chan struct{} // closed when the group is broken
	end     chan struct{} // closed by Close
	watches sync.WaitGroup

	mpi messagePassing

	mu     sync.Mutex
	err    error        // why the group is broken; guarded by mu
	left   map[int]bool // ranks that have closed their group; guarded by mu
	gaveUp bool         // Fail has broken the group; guarded by mu
	closed bool         // guarded by mu
	stats  Stats        // guarded by mu
	device devices      // guarded by mu
}

// Stats is the statistics of a group.
type Stats struct {
	Collectives int           // exchanges with other ranks
	Bytes       int           // sent by this rank, except by MPI and NCCL
	Time        time.Duration // in collectives, including waiting for other ranks
}

func newGroup(j *joiner) *Group {
	p := *j.info
	if p.LocalSize == 0 {
		p.LocalSize = 1
	}
	p.LocalRank = max(p.LocalRank, 0)
	return &Group{
		info: p, joined: j, names: j.names, addresses: j.addresses, heartbeatTimeout: j.heartbeatTimeout, bucket: j.bucket,
		elastic: j.least > 0, changing: make(chan struct{}), broken: make(chan struct{}), end: make(chan struct{}),
		left: map[int]bool{},
	}
}

// Rank returns the rank of this process, from 0.
func (g *Group) Rank() int { return g.info.Rank }

// Size returns the number of processes.
func (g *Group) Size() int { return g.info.Size }

// LocalRank returns the rank of this process among those of its machine: the index of the GPU
// to use.
func (g *Group) LocalRank() int { return g.info.LocalRank }

// LocalSize returns the number of processes on this machine.
func (g *Group) LocalSize() int { return g.info.LocalSize }

// First reports whether this is rank 0, which prints, draws and writes files.
func (g *Group) First() bool { return g.info.Rank == 0 }

// Stats returns the statistics so far.
func (g *Group) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stats
}

// String returns the rank and the size.
func (g *Group) String() string {
	text := fmt.Sprintf("rank %d of %d", g.info.Rank, g.info.Size)
	if g.info.Launcher != "" {
		text += " (" + g.info.Launcher + ")"
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
	own := &LostError{g.Rank(), g.addresses[g.Rank()], "gave up: " + err.Error()}
	if errors.Is(g.breakWith(own), own) {
		g.mu.Lock()
		g.gaveUp = true
		g.mu.Unlock()
	}
}

// failUnless is deferred: the group fails if the model has panicked, or ended its goroutine, before it returned. A panic continues.
func (g *Group) failUnless(returned *bool) {
	if *returned {
		return
	}
	p := recover()
	g.Fail(interrupt.OfModel(p))
	if p != nil {
		panic(p)
	}
}

// fail breaks the group with an error of this rank or about a lost rank, for which the
// heartbeat may have a better explanation. It returns why the group is broken.
func (g *Group) fail(err error) error {
	if lost := (*LostError)(nil); errors.As(err, &lost) && lost.Rank != g.Rank() {
		select { // a lost neighbor may have left because of another rank
		case <-g.broken:
		case <-g.end:
		case <-time.After(noticeTimeout):
			g.mu.Lock()
			if g.left[lost.Rank] {
				err = &LostError{lost.Rank, lost.Address, "has left the group"}
			}
			g.mu.Unlock()
		}
	}
	return g.breakWith(err)
}

// noticeTimeout is how long a rank that has lost a neighbor waits for a notice about which rank
// failed first.
const noticeTimeout = time.Second

// breakWith ends all waiting operations, notifies the other ranks, and returns why the group is
// broken: the first error.
func (g *Group) breakWith(err error) error { return g.breakFor(err, true) }

// breakFor is breakWith; the other ranks are notified only if announce is set.
func (g *Group) breakFor(err error, announce bool) error {
	g.mu.Lock()
	if g.err != nil || g.closed {
		defer g.mu.Unlock()
		if g.err == nil {
			return ErrClosed
		}
		return g.err
	}
	if announce {
		g.err = g.inWhole(err)
	} else {
		g.err = err
	}
	whole := g.err
	links := append([]*link{g.next, g.previous}, g.hub...)
	close(g.broken)
	g.mu.Unlock()
	if announce {
		g.announce(err)
	}
	g.abortDevices()
	for _, l := range links[:2] {
		if l != nil {
			l.close()
		}
	}
	return whole
}

// Close leaves the group. After that the other ranks can only Close as well.
func (g *Group) Close() error {
	left := g.leaveMPI()
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return left
	}
	g.closed = true
	whole := g.err == nil
	g.mu.Unlock()
	err := errors.Join(left, g.closeDevices(whole))
	if whole {
		g.notify(notice{Kind: rankLeaves, Rank: g.Rank()})
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

// requireGroup returns an error if the group or the context that a user passes to a function is nil.
func requireGroup(ctx context.Context, g *Group, function string) error {
	if g == nil && ctx != nil {
		return fmt.Errorf("parallel: %s: the group is nil: check the error of parallel.Join", function)
	}
	return interrupt.RequireContext(ctx, "parallel: "+function)
}

// run runs one collective at a time, within a context.
func (g *Group) run(ctx context.Context, c collective, f func() error) (err error) {
	if err := interrupt.RequireContext(ctx, fmt.Sprintf("parallel: %v", c)); err != nil {
		return err
	}
	if c.how > Mean {
		return fmt.Errorf("parallel: unknown reduction %v: use Sum or Mean", c.how)
	}
	if err := g.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return g.breakWith(fmt.Errorf("parallel: %v on rank %d: %w", c, g.Rank(), err))
	}
	g.running.Lock()
	defer g.running.Unlock()
	if err := g.Err(); err != nil {
		return err
	}
	begin := time.Now()
	g.sequence++
	stop := context.AfterFunc(ctx, func() {
		_ = g.breakWith(fmt.Errorf("parallel: %v on rank %d: %w", c, g.Rank(), ctx.Err()))
	})
	defer stop()
	if g.Size() > 1 {
		err = f()
	}
	g.mu.Lock()
	g.stats.Collectives++
	g.stats.Time += time.Since(begin)
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
	g.stats.Bytes += bytes
}

// lostError returns the error for a broken connection with a neighbor.
func (g *Group) lostError(l *link, err error) error {
	return &LostError{l.rank, g.addresses[l.rank], "ended: " + err.Error()}
}
