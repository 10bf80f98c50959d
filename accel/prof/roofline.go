package prof

import (
	"cmp"
	"slices"
	"time"

	"github.com/quernlab/quern/plots"
)

// maxPoints is the number of ops in a roofline figure.
const maxPoints = 12

// Roofline draws the ops that take most of the time below the peak performance of the device.
func (r *Report) Roofline() *plots.Figure {
	r.exists("Roofline")
	c := r.Ceilings()
	d := plots.RooflineData{FLOPs: c.FLOPs, FLOPsName: "float32", Bytes: c.Bytes}
	if len(c.TensorCores) == 0 {
		d.FLOPsName = ""
	}
	for _, p := range c.TensorCores {
		d.Ceilings = append(d.Ceilings, plots.RooflineCeiling{Name: p.Of, FLOPs: p.FLOPs})
	}
	for _, w := range r.opsByTime() {
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

// opTotal is the total time and work of all calls of an op.
type opTotal struct {
	name         string
	time         time.Duration
	flops, bytes float64
	calls        int
	float16      bool // its operands are 16-bit floats
	random       bool // it draws a random number for each element
}

// opsByTime returns the ops sorted by their time, the longest first.
func (r *Report) opsByTime() []opTotal {
	var all []opTotal
	at := map[string]int{}
	for _, o := range r.Ops {
		name := o.title()
		k, ok := at[name]
		if !ok {
			k = len(all)
			at[name] = k
			all = append(all, opTotal{name: name, float16: o.float16, random: o.random})
		}
		w := &all[k]
		w.time += o.End - o.Begin
		w.flops += o.FLOPs
		w.bytes += o.Bytes
		w.calls++
	}
	slices.SortStableFunc(all, func(a, b opTotal) int { return cmp.Compare(b.time, a.time) })
	return all
}

// peakFraction returns the fraction of the device's peak: of arithmetic or of memory bandwidth,
// whichever is the limit for this work.
func (w opTotal) peakFraction(c Ceilings) float64 {
	least := max(w.flops/c.arithmetic(w.float16), w.bytes/c.Bytes)
	return least / max(w.time.Seconds(), 1e-12)
}
