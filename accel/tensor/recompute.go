package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Recompute is f(in...), of which the gradient needs no more memory than its
// inputs and its result: Backward runs f again to have what f made on the way,
// which costs its forward pass once more. Parameters that f uses get their
// gradients as always. Random numbers that f draws are the same the second time,
// and running statistics move only the first time.
//
// f must compute the same both times, from in, and should release what it makes
// and does not return; what it returns it gives away, and must not keep. It computes on the goroutine that calls it: ops of others
// wait until f is done, so f must not wait for them.
func Recompute(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var values []*ir.Value
	for _, t := range in {
		values = append(values, t.value("Recompute"))
	}
	e.recorder.Trim()
	first, again, cast, eight := &draws{}, false, e.now.cast, e.now.fp8
	replay := func(v []*ir.Value) *ir.Value {
		tensors := make([]*Tensor, len(v))
		for i, x := range v {
			tensors[i] = wrap(x)
		}
		if again {
			defer first.again()()
		} else { // also where a Recompute around this one runs its function again
			again = true
			first.around = drawn.Load()
			drawn.Store(first)
			defer drawn.Store(first.around)
		}
		var y *Tensor
		from := e.recorder.Position()
		within(func(s *scope) { s.cast, s.fp8 = cast, eight }, func() { y = f(tensors) })
		out := y.known("Recompute")
		if e.recorder.Since(out, from) {
			out.Drop() // nobody but the recorded function has it
		}
		for _, t := range tensors {
			if t != y {
				t.Release()
			}
		}
		return out
	}
	return wrap(e.recorder.Recompute(replay, values))
}

// draws remembers where generators stood when a function first drew from them.
type draws struct {
	around *draws // those of the function that calls it; nil for none
	mu     sync.Mutex
	at     map[*Generator]uint64
}

// drawn notes draws while it is set.
var drawn atomic.Pointer[draws]

func (d *draws) note(g *Generator, counter uint64) {
	if d.around != nil {
		d.around.note(g, counter)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = map[*Generator]uint64{}
	}
	if _, ok := d.at[g]; !ok {
		d.at[g] = counter
	}
}

// again puts the generators back to where they stood, until the function that it
// returns is called.
func (d *draws) again() (end func()) {
	now := map[*Generator]uint64{}
	for g, counter := range d.at {
		g.mu.Lock()
		now[g], g.counter = g.counter, counter
		g.mu.Unlock()
	}
	return func() {
		for g, counter := range now {
			g.mu.Lock()
			g.counter = counter
			g.mu.Unlock()
		}
	}
}
