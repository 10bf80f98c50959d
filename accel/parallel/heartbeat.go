package parallel

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"
)

// notice is a control message: all other ranks send it to rank 0, which forwards it to all.
type notice struct {
	Kind   noticeKind
	Rank   int // the rank that it is about
	Reason string
}

type noticeKind uint8

const (
	heartbeat   noticeKind = iota // heartbeat
	rankLeaves                    // the rank has closed its group
	rankLost                      // the rank is gone
	rankFailed                    // the rank has failed
	ranksChange                   // the ranks of an elastic group change
)

// heartbeatsPerTimeout is the number of heartbeats within the time after which a rank counts as lost.
const heartbeatsPerTimeout = 5

// watch starts monitoring: rank 0 monitors all ranks, the others monitor rank 0.
func (g *Group) watch(hub []*link) {
	g.hub = hub
	for _, l := range hub {
		if l == nil {
			continue
		}
		heard := &atomic.Bool{}
		heard.Store(true)
		g.watches.Go(func() { g.readNotices(l, heard) })
		g.watches.Go(func() { g.sendHeartbeats(l, heard) })
	}
}

// readNotices reads the notices of a rank until it is gone.
func (g *Group) readNotices(l *link, heard *atomic.Bool) {
	for {
		var n notice
		if err := l.receive(&n); err != nil {
			g.ended(l, err)
			return
		}
		heard.Store(true)
		switch n.Kind {
		case rankLeaves:
			g.mu.Lock()
			g.left[n.Rank] = true
			g.mu.Unlock()
			g.forward(l, n)
		case ranksChange:
			g.setChanging()
		case rankLost, rankFailed:
			if n.Rank < 0 || n.Rank >= len(g.addresses) {
				continue
			}
			_ = g.breakWith(&LostError{n.Rank, g.addresses[n.Rank], n.Reason})
		}
	}
}

// sendHeartbeats sends heartbeats, and detects missing ones. It counts its own heartbeats without a reply
// instead of elapsed time, so that a machine that was suspended as a whole and resumes has
// missed nothing.
func (g *Group) sendHeartbeats(l *link, heard *atomic.Bool) {
	ticker := time.NewTicker(g.heartbeatTimeout / heartbeatsPerTimeout)
	defer ticker.Stop()
	for silent := 0; ; {
		select {
		case <-g.end:
			return
		case <-ticker.C:
		}
		if heard.Swap(false) {
			silent = 0
		} else if silent++; silent > heartbeatsPerTimeout {
			g.lose(l.rank, fmt.Sprintf("sent no heartbeat for %v", g.heartbeatTimeout))
			return
		}
		if err := l.sendWithin(notice{Kind: heartbeat, Rank: g.Rank()}, g.heartbeatTimeout); err != nil {
			return // readNotices reports the reason
		}
	}
}

// ended is called when the connection with a rank ends.
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

// lose breaks the group because a rank is lost.
func (g *Group) lose(rank int, reason string) {
	_ = g.breakWith(&LostError{rank, g.addresses[rank], reason})
}

// announce sends the other ranks the reason why the group is broken.
func (g *Group) announce(err error) {
	n := notice{Kind: rankFailed, Rank: g.Rank(), Reason: "gave up: " + err.Error()}
	if l := (*LostError)(nil); errors.As(err, &l) {
		n = notice{Kind: rankLost, Rank: l.Rank, Reason: l.Reason}
	}
	g.notify(n)
}

// notify sends a notice to all ranks that this one is connected to.
func (g *Group) notify(n notice) { g.forward(nil, n) }

// forward forwards a notice to all but its sender. Ranks other than 0 have no one to forward to.
func (g *Group) forward(from *link, n notice) {
	for _, l := range g.hub {
		if l != nil && l != from {
			_ = l.sendWithin(n, time.Second) // a rank that cannot be reached does not need the notice
		}
	}
}

// sendWithin is send with a time limit for ranks that do not read.
func (l *link) sendWithin(message any, d time.Duration) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return l.send(message)
}
