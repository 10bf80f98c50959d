package atomic_test

import (
	"sync"
	standard "sync/atomic"
	"testing"

	"github.com/quernlab/quern/interp/generic/sync/atomic"
)

type pointer interface {
	Load() *int
	Store(*int)
	Swap(*int) *int
	CompareAndSwap(old, next *int) bool
}

func TestPointer(t *testing.T) {
	a, b, equal := new(1), new(2), new(1)
	for name, p := range map[string]pointer{"ours": new(atomic.Pointer[int]), "standard": new(standard.Pointer[int])} {
		if p.Load() != nil {
			t.Errorf("%s: zero value is not nil", name)
		}
		if p.CompareAndSwap(a, b) || !p.CompareAndSwap(nil, a) || p.CompareAndSwap(equal, b) || p.Load() != a {
			t.Errorf("%s: CompareAndSwap", name)
		}
		if p.Swap(b) != a || p.Load() != b {
			t.Errorf("%s: Swap", name)
		}
		if p.Store(nil); p.Load() != nil {
			t.Errorf("%s: Store", name)
		}
	}
}

func TestPointerConcurrently(t *testing.T) {
	p := new(atomic.Pointer[int])
	p.Store(new(int))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 500 {
				for {
					old := p.Load()
					if p.CompareAndSwap(old, new(*old+1)) {
						break
					}
				}
			}
		})
	}
	wait.Wait()
	if got := *p.Load(); got != 2000 {
		t.Errorf("counted to %d, want 2000", got)
	}
}
