package control

import (
	"testing"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// TestCountPanicking finds a goroutine whose deferred call blocks, on a stack that the profile and the stack trace show, and on one
// of which each only shows a part.
func TestCountPanicking(t *testing.T) {
	g := NewGoroutines(&goroutine.Members{}, &StopFlag{}, nil)
	for _, row := range []struct {
		name  string
		depth int
		whole bool
	}{{"flat", 0, true}, {"deep", 300, false}} {
		blocked, release, ended := make(chan uint64), make(chan bool), make(chan bool)
		go func() {
			defer close(ended)
			g.Protect(&goroutine.Member{Run: goroutine.NewRun(1)}, "a goroutine", func() {
				defer func() { _ = recover() }()
				defer nest(row.depth, func() { blocked <- stack.ID(); <-release })
				panic("bad")
			})
		}()
		id := <-blocked
		panicking, deep := countPanicking()
		if want := map[bool]int{true: 1}[row.whole]; panicking != want || deep == row.whole {
			t.Errorf("%s: %d are panicking, deep %t", row.name, panicking, deep)
		}
		visible, _ := visiblePanicking(stack.All())
		if whole, found := visible[id]; len(visible) != 1 || !found || whole != row.whole {
			t.Errorf("%s: goroutine %d: got %v", row.name, id, visible)
		}
		p := panics{}
		for range 2 {
			if ids, _ := p.awaited(); len(ids) != 1 || ids[0] != id {
				t.Errorf("%s: waits for %v, not for %d", row.name, ids, id)
			}
		}
		p.setSlow(id)
		if ids, _ := p.awaited(); len(ids) != 0 {
			t.Errorf("%s: waits for %v", row.name, ids)
		}
		close(release)
		<-ended
		if panicking, deep := countPanicking(); panicking != 0 || deep {
			t.Errorf("%s: %d are panicking after the end, deep %t", row.name, panicking, deep)
		}
		if ids, _ := p.awaited(); len(ids) != 0 || len(p.slow) != 0 {
			t.Errorf("%s: waits for %v after the end", row.name, ids)
		}
	}
}

// nest calls f on top of a stack of depth calls.
//
//go:noinline
func nest(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	nest(depth-1, f)
}
