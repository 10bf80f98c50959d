package prof

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/plots"
)

// Ceilings are what the device can do at most, as it was measured.
type Ceilings struct {
	FLOPs float64 // per second, in a product of large matrices
	Bytes float64 // per second, in a sum of large tensors
}

// measured measures the ceilings of the device once.
var measured = sync.OnceValue(measureCeilings)

const (
	ceilingSide  = 1024    // of the matrices
	ceilingCount = 1 << 23 // elements of the tensors, 32 MiB each
	ceilingRuns  = 12      // of which the fastest counts
)

func measureCeilings() Ceilings {
	var c Ceilings
	tensor.NoGrad(func() {
		a, b := tensor.Full(1, ceilingSide, ceilingSide), tensor.Full(2, ceilingSide, ceilingSide)
		c.FLOPs = 2 * ceilingSide * ceilingSide * ceilingSide / fastest(func() *tensor.Tensor { return a.MatMul(b) })
		x, y := tensor.Full(1, ceilingCount), tensor.Full(2, ceilingCount)
		c.Bytes = 3 * 4 * ceilingCount / fastest(func() *tensor.Tensor { return x.Add(y) })
	})
	return c
}

// fastest is the least time in seconds of some runs.
func fastest(f func() *tensor.Tensor) float64 {
	least := time.Duration(1<<63 - 1)
	for range ceilingRuns {
		tensor.Flush()
		begin := time.Now()
		y := f()
		tensor.Flush()
		least = min(least, time.Since(begin))
		y.Release()
	}
	return max(least.Seconds(), 1e-9)
}

// Ceilings measures what the device can do, the first time in a program; that
// takes a fraction of a second, and 100 MiB. No profile may be under way.
func (r *Report) Ceilings() Ceilings {
	if r.ceilings == nil {
		c := measured()
		r.ceilings = &c
	}
	return *r.ceilings
}

// maxPoints is the number of ops in a roofline.
const maxPoints = 12

// Roofline draws the ops that take most of the time below what the device can do.
func (r *Report) Roofline() *plots.Figure {
	c := r.Ceilings()
	d := plots.RooflineData{FLOPs: c.FLOPs, Bytes: c.Bytes}
	for _, w := range r.heaviest() {
		if len(d.Points) == maxPoints {
			break
		}
		if w.flops > 0 && w.bytes > 0 && w.time > 0 {
			d.Points = append(d.Points, plots.RooflinePoint{
				Name: w.name, Intensity: w.flops / w.bytes, Speed: w.flops / w.time.Seconds(), Share: w.time.Seconds() / max(r.total().Seconds(), 1e-12),
			})
		}
	}
	return plots.Roofline("Roofline: "+r.Device, d)
}

// weight is what all calls of an op took and did.
type weight struct {
	name         string
	time         time.Duration
	flops, bytes float64
	calls        int
}

// heaviest are the ops by the time that they took, the longest first.
func (r *Report) heaviest() []weight {
	var all []weight
	at := map[string]int{}
	for _, o := range r.Ops {
		name := o.title()
		k, ok := at[name]
		if !ok {
			k = len(all)
			at[name] = k
			all = append(all, weight{name: name})
		}
		w := &all[k]
		w.time += o.End - o.Begin
		w.flops += o.FLOPs
		w.bytes += o.Bytes
		w.calls++
	}
	slices.SortStableFunc(all, func(a, b weight) int { return cmp.Compare(b.time, a.time) })
	return all
}

// reached is the share of what the device can do: of its arithmetic or of its
// memory, whichever would take longer for this work.
func (w weight) reached(c Ceilings) float64 {
	least := max(w.flops/c.FLOPs, w.bytes/c.Bytes)
	return least / max(w.time.Seconds(), 1e-12)
}
