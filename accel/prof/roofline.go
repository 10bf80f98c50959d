package prof

import (
	"cmp"
	"slices"
	"time"

	"github.com/quernlab/quern/plots"
)

// maxPoints is the number of ops in a roofline.
const maxPoints = 12

// Roofline draws the ops that take most of the time below what the device can do.
func (r *Report) Roofline() *plots.Figure {
	c := r.Ceilings()
	d := plots.RooflineData{FLOPs: c.FLOPs, FLOPsName: "float32", Bytes: c.Bytes}
	if len(c.Products) == 0 {
		d.FLOPsName = ""
	}
	for _, p := range c.Products {
		d.Ceilings = append(d.Ceilings, plots.RooflineCeiling{Name: p.Of, FLOPs: p.FLOPs})
	}
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
	half         bool // its factors are of 16 bits
	random       bool // it draws a number for each element
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
			all = append(all, weight{name: name, half: o.half, random: o.random})
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
	least := max(w.flops/c.arithmetic(w.half), w.bytes/c.Bytes)
	return least / max(w.time.Seconds(), 1e-12)
}
