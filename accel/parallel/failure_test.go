package parallel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, g *Group) error
	}{
		{"lengths", func(ctx context.Context, g *Group) error {
			return g.AllReduce(ctx, make([]float32, 10+g.Rank()/2), Sum)
		}},
		{"long lengths", func(ctx context.Context, g *Group) error {
			return g.AllReduce(ctx, make([]float32, 90000+g.Rank()/2), Sum)
		}},
		{"kinds", func(ctx context.Context, g *Group) error {
			if g.Rank() == 1 {
				return g.Barrier(ctx)
			}
			return g.AllReduce(ctx, make([]float32, 90000), Sum)
		}},
		{"order", func(ctx context.Context, g *Group) error {
			if g.Rank() == 2 {
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				_, err := g.AllGather(ctx, nil)
				return err
			}
			if _, err := g.AllGather(ctx, nil); err != nil {
				return err
			}
			return g.Barrier(ctx)
		}},
		{"roots", func(ctx context.Context, g *Group) error {
			_, err := g.Broadcast(ctx, g.Rank()%2, []byte("x"))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mismatches := 0
			for r, err := range each(t, ranks(t, 3), c.do) {
				var mismatch *MismatchError
				var lost *LostError
				switch {
				case errors.As(err, &mismatch):
					mismatches++
				case err == nil && c.name == "roots" && r == 0: // only sends
				case errors.As(err, &lost) && strings.Contains(err.Error(), "all ranks must make the same calls"):
				default:
					t.Errorf("rank %d: %v", r, err)
				}
			}
			if mismatches == 0 {
				t.Error("no rank detected it")
			}
		})
	}
}

func TestARankThatDies(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		for dead := range n {
			t.Run(fmt.Sprintf("%d of %d", dead, n), func(t *testing.T) {
				t.Parallel()
				all := ranks(t, n)
				for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
					for range 3 {
						if err := g.AllReduce(ctx, make([]float32, 50000), Sum); err != nil {
							return err
						}
					}
					if g.Rank() == dead { // closes connections without a notice, as the system does when a process ends
						g.mu.Lock()
						g.closed = true
						g.mu.Unlock()
						close(g.end)
						for _, l := range append([]*link{g.next, g.previous}, g.hub...) {
							if l != nil {
								l.close()
							}
						}
						return nil
					}
					return g.AllReduce(ctx, make([]float32, 50000), Sum)
				}) {
					var lost *LostError
					if r != dead && (!errors.As(err, &lost) || lost.Rank != dead || !strings.Contains(err.Error(), fmt.Sprintf("rank %d (127.0.0.1:", dead))) {
						t.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
	}
}

func TestARankThatIsSilent(t *testing.T) {
	// Rank 1 is stopped: its connections stay open, but it sends nothing.
	all := ranks(t, 3, HeartbeatTimeout(500*time.Millisecond))
	for _, l := range all[1].hub {
		if l != nil {
			l.sending.Lock()
			defer l.sending.Unlock()
		}
	}
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		if g.Rank() == 1 {
			<-g.broken
			return nil
		}
		return g.Barrier(ctx)
	}) {
		var lost *LostError
		if r != 1 && (!errors.As(err, &lost) || lost.Rank != 1 || !strings.Contains(err.Error(), "sent no heartbeat for 500ms")) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestARankThatGivesUp(t *testing.T) {
	for _, n := range []int{2, 4} {
		all := ranks(t, n)
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			if g.Rank() == n-1 {
				g.Fail(errors.New("the disk is full"))
				return nil
			}
			return g.Barrier(ctx)
		}) {
			var lost *LostError
			if r != n-1 && (!errors.As(err, &lost) || lost.Rank != n-1 || !strings.Contains(err.Error(), "gave up: the disk is full")) {
				t.Errorf("rank %d: %v", r, err)
			}
		}
		if err := all[0].Barrier(context.Background()); err == nil || err.Error() != all[0].Err().Error() {
			t.Errorf("a broken group gives %v", err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	all := ranks(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	for r, err := range each(t, all, func(context.Context, *Group) error { return nil }) {
		if err != nil {
			t.Fatal(r, err)
		}
	}
	errs := each(t, all, func(_ context.Context, g *Group) error {
		if g.Rank() == 2 {
			cancel() // and never joins
			<-g.broken
			return nil
		}
		return g.AllReduce(ctx, make([]float32, 90000), Sum)
	})
	interrupted := 0
	for r, err := range errs[:2] {
		var lost *LostError
		switch {
		case errors.Is(err, context.Canceled):
			interrupted++
		case !errors.As(err, &lost):
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if interrupted == 0 {
		t.Error(errs)
	}
}

func TestClose(t *testing.T) {
	all := ranks(t, 3)
	if err := all[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := all[1].Barrier(context.Background()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	for r, err := range each(t, []*Group{all[0], all[2]}, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) }) {
		var lost *LostError
		if !errors.As(err, &lost) || lost.Rank != 1 || !strings.Contains(err.Error(), "has left the group") {
			t.Errorf("rank %d: %v", 2*r, err)
		}
	}
}

// TestUnreachableNeighbor checks that a rank whose neighbor ends while they connect gets an error, also if the goroutine that
// watches the group starts only afterwards. The race detector found this.
func TestUnreachableNeighbor(t *testing.T) {
	for range 20 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			ring, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			j := &joiner{info: &RankInfo{Size: 2}, addresses: []string{ring.Addr().String(), freeAddress(t)}, hosts: []string{"a", "b"}}
			var lost *LostError
			if g, err := j.assemble(t.Context(), nil, ring, nil); g != nil || !errors.As(err, &lost) || lost.Rank != 1 {
				t.Errorf("group %v, error %v", g, err)
			}
		})
	}
}
