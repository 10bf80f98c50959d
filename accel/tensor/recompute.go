package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Recompute returns f(in...) and keeps only the inputs and the result for the gradient (activation
// checkpointing in PyTorch). Backward runs f again to compute the intermediate results, which costs
// a second forward pass of f. Parameters that f uses get their gradients. f draws the same random
// numbers both times, and running statistics are updated only the first time.
//
// f must compute the same result from in both times. It should release the tensors that it makes
// and does not return, and must not keep the one that it returns. f runs on the goroutine that
// calls it; ops of other goroutines wait until f returns, so f must not wait for them.
func Recompute(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var values []*ir.Value
	for _, t := range in {
		values = append(values, t.value("Recompute"))
	}
	e.recorder.Trim()
	counters, replaying, outer := &drawCounters{}, false, e.current
	replay := func(v []*ir.Value) *ir.Value {
		tensors := make([]*Tensor, len(v))
		for i, x := range v {
			tensors[i] = wrap(x)
		}
		if replaying {
			defer counters.rewind()()
		} else { // also if an enclosing Recompute runs its function again
			replaying = true
			counters.outer = activeDraws.Load()
			activeDraws.Store(counters)
			defer activeDraws.Store(counters.outer)
		}
		var y *Tensor
		from := e.recorder.Position()
		withScope(func(s *scope) {
			s.cast, s.fp8, s.lengths, s.positions, s.packed = outer.cast, outer.fp8, outer.lengths, outer.positions, outer.packed
		}, func() { y = f(tensors) })
		out := y.lockedValue("Recompute")
		if e.recorder.Since(out, from) {
			out.Drop() // only the recorded function holds it
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

// drawCounters holds the counter that each generator had when a function first drew from it.
type drawCounters struct {
	outer *drawCounters // of the enclosing Recompute; nil if there is none
	mu    sync.Mutex
	at    map[*Generator]uint64
}

// activeDraws holds the drawCounters that generators report to, nil outside of Recompute.
var activeDraws atomic.Pointer[drawCounters]

func (d *drawCounters) note(g *Generator, counter uint64) {
	if d.outer != nil {
		d.outer.note(g, counter)
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

// rewind resets the generators to the saved counters until the returned function is called.
func (d *drawCounters) rewind() (end func()) {
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
