package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RooflineData describes the peak performance of a machine and the work done on it.
type RooflineData struct {
	FLOPs     float64 // peak FLOP/s
	Bytes     float64 // peak memory bandwidth in bytes/s
	FLOPsName string  // name of that ceiling; "peak" if empty
	BytesName string  // "memory" if empty

	// Ceilings are further compute ceilings, such as those of other element types. Ceilings
	// that are not positive are left out.
	Ceilings []RooflineCeiling
	Points   []RooflinePoint // in any order
}

// RooflineCeiling is a further compute ceiling.
type RooflineCeiling struct {
	Name  string  // such as the element type
	FLOPs float64 // peak FLOP/s
}

// RooflinePoint is one piece of work, such as a kernel or an op.
type RooflinePoint struct {
	Name      string  // of the kernel or op
	Intensity float64 // FLOPs per byte
	Speed     float64 // FLOP/s
	Share     float64 // fraction of the total time, from 0 to 1; sets the size of the dot
}

// Roofline draws work by its arithmetic intensity and speed, below the ceilings of memory
// bandwidth and compute (Williams, Waterman and Patterson, "Roofline: An Insightful Visual
// Performance Model", 2009). Points near the slope are memory-bound; points far below all
// ceilings are limited by something else. Points that are not positive are left out and
// counted.
func Roofline(title string, d RooflineData) *Figure {
	d.FLOPsName, d.BytesName = cmp.Or(d.FLOPsName, "peak"), cmp.Or(d.BytesName, "memory")
	d.Points = append([]RooflinePoint(nil), d.Points...)
	d.FLOPsName, d.Ceilings = d.distinct()
	return newFigure(title, roofline(d))
}

// mergeRatio is the ratio below which two ceilings are drawn as one.
const mergeRatio = 1.25

// distinct returns the further ceilings, the highest first. A ceiling close to another one is
// merged into it: only its name is added. first is the name of the first ceiling.
func (d RooflineData) distinct() (first string, others []RooflineCeiling) {
	near := func(a, b float64) bool { return a < b*mergeRatio && b < a*mergeRatio }
	first = d.FLOPsName
	for _, c := range d.Ceilings {
		if !drawable(c.FLOPs, true) {
			continue
		}
		if near(c.FLOPs, d.FLOPs) {
			first += ", " + c.Name
			continue
		}
		i := slices.IndexFunc(others, func(o RooflineCeiling) bool { return near(o.FLOPs, c.FLOPs) })
		if i < 0 {
			others = append(others, c)
			continue
		}
		others[i].Name += ", " + c.Name
		others[i].FLOPs = max(others[i].FLOPs, c.FLOPs)
	}
	slices.SortFunc(others, func(a, b RooflineCeiling) int { return cmp.Compare(b.FLOPs, a.FLOPs) })
	return first, others
}

type roofline RooflineData

func (roofline) size() (width, height float64) { return 640, 380 }

func (k roofline) sections(l settings) []section {
	p := axes()
	p.X.Label.Text = "FLOPs for each byte (log)"
	p.Add(grid{vertical: true})
	var x, y limits
	var bad []point
	var marks []roofMark
	var ceilings []ceiling
	for i, q := range k.Points {
		if !drawable(q.Intensity, true) || !drawable(q.Speed, true) {
			bad = append(bad, point{q.Intensity, q.Speed})
			continue
		}
		x.add(q.Intensity)
		y.add(q.Speed/1e9/1.5, q.Speed/1e9*2.2) // keep dots off the axis, and leave space for a name above
		marks = append(marks, roofMark{point{q.Intensity, q.Speed / 1e9}, q.Name, q.Share, i})
	}
	subtitle := "no ceilings"
	if drawable(k.FLOPs, true) && drawable(k.Bytes, true) {
		knee := k.FLOPs / k.Bytes
		x.add(knee/8, knee*4)
		for _, r := range k.Ceilings {
			x.add(r.FLOPs / k.Bytes * 4)
			y.add(r.FLOPs / 1e9 * 1.3)
		}
		x.lo, x.hi = x.lo/1.6, x.hi*1.6
		y.add(k.FLOPs/1e9*1.6, x.lo*k.Bytes/1e9)
		flops, bytes := k.FLOPsName+" "+value(k.FLOPs/1e9)+" GFLOP/s", k.BytesName+" "+value(k.Bytes/1e9)+" GB/s"
		ceilings = append(ceilings, ceiling{[]point{{x.lo, x.lo * k.Bytes / 1e9}, {knee, k.FLOPs / 1e9}, {x.hi, k.FLOPs / 1e9}}, bytes, flops})
		subtitle = flops + ", " + bytes
	}
	for _, r := range k.Ceilings {
		if drawable(k.Bytes, true) {
			label := r.Name + " " + value(r.FLOPs/1e9) + " GFLOP/s"
			line := []point{{r.FLOPs / k.Bytes, r.FLOPs / 1e9}, {x.hi, r.FLOPs / 1e9}}
			if knee := k.FLOPs / k.Bytes; knee > 0 && knee < line[0].x { // with the slope that leads to it
				line = append([]point{{knee, k.FLOPs / 1e9}}, line...)
			}
			ceilings = append(ceilings, ceiling{line, "", label})
		}
	}
	for _, c := range ceilings {
		p.Add(c)
	}
	p.Add(roofMarks{marks, ceilings})
	scale(&p.X, x.widened(true), true, ticker(6, true))
	scale(&p.Y, y.widened(true), true, ticker(5, true))
	l.labelY = "GFLOP/s (log)"
	return l.onePanel(p, subtitle, notDrawn(bad))
}

// slopeTextOffset is the distance of the text along the slope from its lower end.
const slopeTextOffset = vg.Length(10)

// Plot draws the ceiling: a further one, without text along its slope, is dashed.
func (k ceiling) Plot(c draw.Canvas, p *plot.Plot) {
	drawn := line(k.line, ink(.75), widthLine)
	if k.along == "" {
		drawn = line(k.line, ink(.55), 1.1)
		drawn.style.Dashes = dashes
	}
	drawn.Plot(c, p)
	at := toCanvas(c, p, k.line)
	style := textStyle(sizeSmall, ink(.65))
	style.XAlign = draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: at[len(at)-1].Y + 2}, k.end)
	if k.along == "" {
		return
	}
	style.XAlign = draw.XLeft
	style.Rotation = math.Atan2(float64(at[1].Y-at[0].Y), float64(at[1].X-at[0].X))
	sin, cos := math.Sincos(style.Rotation)
	along := slopeTextOffset
	c.FillText(style, vg.Point{X: at[0].X + along*vg.Length(cos) - 3*vg.Length(sin), Y: at[0].Y + along*vg.Length(sin) + 3*vg.Length(cos)}, k.along)
}
