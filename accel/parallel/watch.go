package parallel

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"
)

// notice is what ranks tell each other beside the ring: all others tell rank 0, which
// tells all.
type notice struct {
	Kind   noticeKind
	Rank   int // of whom
	Reason string
}

type noticeKind uint8

const (
	lives  noticeKind = iota // nothing but that
	leaves                   // it has closed its group
	lost                     // it is not there any more
	broken                   // what it did has failed
)

// beats is how often a rank says that it lives, within the time after which it counts
// as lost.
const beats = 5

// watch begins to look after the ranks that this one is connected with: rank 0 after
// all, the others after rank 0.
func (g *Group) watch(hub []*link) {
	g.hub = hub
	for _, l := range hub {
		if l == nil {
			continue
		}
		heard := &atomic.Bool{}
		heard.Store(true)
		g.watches.Go(func() { g.listen(l, heard) })
		g.watches.Go(func() { g.beat(l, heard) })
	}
}

// listen reads what a rank says until it is gone.
func (g *Group) listen(l *link, heard *atomic.Bool) {
	for {
		var n notice
		if err := l.receive(&n); err != nil {
			g.ended(l, err)
			return
		}
		heard.Store(true)
		switch n.Kind {
		case leaves:
			g.mu.Lock()
			g.left[n.Rank] = true
			g.mu.Unlock()
			g.pass(l, n)
		case lost, broken:
			if n.Rank < 0 || n.Rank >= len(g.addresses) {
				continue
			}
			_ = g.breakWith(&LostError{n.Rank, g.addresses[n.Rank], n.Reason})
		}
	}
}

// beat says that this rank lives, and notices when the other does not. It counts
// beats of its own clock in which nothing came, not the time between: a machine that
// was stopped as a whole, and goes on, has missed nothing.
func (g *Group) beat(l *link, heard *atomic.Bool) {
	ticker := time.NewTicker(g.silence / beats)
	defer ticker.Stop()
	for silent := 0; ; {
		select {
		case <-g.end:
			return
		case <-ticker.C:
		}
		if heard.Swap(false) {
			silent = 0
		} else if silent++; silent > beats {
			g.lose(l.rank, fmt.Sprintf("has not been heard of for %v", g.silence))
			return
		}
		if err := l.sendWithin(notice{Kind: lives, Rank: g.Rank()}, g.silence); err != nil {
			return // listen tells what is the matter
		}
	}
}

// ended is called when a connection with a rank is.
func (g *Group) ended(l *link, err error) {
	select {
	case <-g.end:
		return
	default:
	}
	g.mu.Lock()
	left := g.left[l.rank]
	g.mu.Unlock()
	if left {
		return
	}
	reason := "ended: " + err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		reason = "ended"
	}
	g.lose(l.rank, reason)
}

// lose breaks the group because of a rank.
func (g *Group) lose(rank int, reason string) {
	_ = g.breakWith(&LostError{rank, g.addresses[rank], reason})
}

// announce tells the others why the group is broken.
func (g *Group) announce(err error) {
	n := notice{Kind: broken, Rank: g.Rank(), Reason: "has given up: " + err.Error()}
	if l := (*LostError)(nil); errors.As(err, &l) {
		n = notice{Kind: lost, Rank: l.Rank, Reason: l.Reason}
	}
	g.tell(n)
}

// tell says something to all ranks that this one watches.
func (g *Group) tell(n notice) { g.pass(nil, n) }

// pass is tell without the one from whom it comes. Ranks other than 0 have nobody else.
func (g *Group) pass(from *link, n notice) {
	for _, l := range g.hub {
		if l != nil && l != from {
			_ = l.sendWithin(n, time.Second) // who is gone need not know
		}
	}
}

// sendWithin is send that does not wait longer for a rank that does not read.
func (l *link) sendWithin(n notice, d time.Duration) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return l.send(n)
}
