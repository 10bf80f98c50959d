package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RooflineData is what a machine can do, and what was done with it.
type RooflineData struct {
	FLOPs     float64 // per second, at most
	Bytes     float64 // per second, at most
	FLOPsName string  // of the ceiling, "peak" when empty
	BytesName string  // "memory" when empty

	// Ceilings are further ones of arithmetic, of other types of numbers for
	// instance. Those that are not positive are left out.
	Ceilings []RooflineCeiling
	Points   []RooflinePoint
}

// RooflineCeiling is what a machine can do at most in one way.
type RooflineCeiling struct {
	Name  string
	FLOPs float64 // per second
}

// RooflinePoint is one piece of work.
type RooflinePoint struct {
	Name      string
	Intensity float64 // FLOPs for each byte
	Speed     float64 // FLOPs per second
	Share     float64 // of all time, from 0 to 1, which makes its dot larger
}

// Roofline draws work by how many operations it does with each byte, below what
// memory and arithmetic allow (Williams, Waterman and Patterson, Roofline: An
// Insightful Visual Performance Model, 2009). What touches the slope waits for
// memory; what is far below it waits for something else. Points that are not
// positive have no place on the axes and are counted.
func Roofline(title string, d RooflineData) *Figure {
	if d.FLOPsName == "" {
		d.FLOPsName = "peak"
	}
	if d.BytesName == "" {
		d.BytesName = "memory"
	}
	d.Points = append([]RooflinePoint(nil), d.Points...)
	d.FLOPsName, d.Ceilings = d.distinct()
	return newFigure(title, roofline(d))
}

// together is how near ceilings are that could not be told apart in a figure.
const together = 1.25

// distinct are the further ceilings, the highest first, of which those that are near
// another are only named there; first is the name of the first one.
func (d RooflineData) distinct() (first string, others []RooflineCeiling) {
	near := func(a, b float64) bool { return a < b*together && b < a*together }
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

func (k roofline) sections(l look) []section {
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
		y.add(q.Speed/1e9/1.5, q.Speed/1e9*2.2) // no dot on the axis, and room for a name above
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
		p.Add(roof{knee: knee, peak: k.FLOPs / 1e9, from: x.lo, to: x.hi, flops: flops, bytes: bytes})
		subtitle = flops + ", " + bytes
	}
	for _, r := range k.Ceilings {
		if drawable(k.Bytes, true) {
			words := r.Name + " " + value(r.FLOPs/1e9) + " GFLOP/s"
			ceilings = append(ceilings, ceiling{[]point{{r.FLOPs / k.Bytes, r.FLOPs / 1e9}, {x.hi, r.FLOPs / 1e9}}, "", words})
			p.Add(flatRoof{knee: r.FLOPs / k.Bytes, peak: r.FLOPs / 1e9, from: k.FLOPs / k.Bytes, to: x.hi, words: words})
		}
	}
	p.Add(roofMarks{marks, ceilings})
	scale(&p.X, x.widened(true), true, ticker(6, true))
	scale(&p.Y, y.widened(true), true, ticker(5, true))
	return []section{{
		title: l.title, subtitle: subtitle, legend: notDrawn(bad), height: 1,
		body: rows{{panels: []panel{{p, "GFLOP/s (log)"}}, weight: 1}},
	}}
}

// roof is the two ceilings.
type roof struct {
	knee, peak, from, to float64
	flops, bytes         string
}

// roofWordsFrom is where the words along the slope begin, from its lower end.
const roofWordsFrom = vg.Length(10)

func (m roof) Plot(c draw.Canvas, p *plot.Plot) {
	slope := []point{{m.from, m.peak * m.from / m.knee}, {m.knee, m.peak}, {m.to, m.peak}}
	line(slope, ink(.75), widthLine).Plot(c, p)
	at := place(c, p, slope)
	style := textStyle(sizeSmall, ink(.65))
	style.XAlign = draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: at[1].Y + 2}, m.flops)
	style.XAlign = draw.XLeft
	style.Rotation = math.Atan2(float64(at[1].Y-at[0].Y), float64(at[1].X-at[0].X))
	sin, cos := math.Sincos(style.Rotation)
	along := roofWordsFrom
	c.FillText(style, vg.Point{X: at[0].X + along*vg.Length(cos) - 3*vg.Length(sin), Y: at[0].Y + along*vg.Length(sin) + 3*vg.Length(cos)}, m.bytes)
}

// flatRoof is one further ceiling of arithmetic, with the slope from the knee of the
// first one up to its own.
type flatRoof struct {
	knee, peak, from, to float64
	words                string
}

func (m flatRoof) Plot(c draw.Canvas, p *plot.Plot) {
	points := []point{{m.knee, m.peak}, {m.to, m.peak}}
	if m.from > 0 && m.from < m.knee {
		points = append([]point{{m.from, m.peak * m.from / m.knee}}, points...)
	}
	roof := line(points, ink(.55), 1.1)
	roof.style.Dashes = dashes
	roof.Plot(c, p)
	style := textStyle(sizeSmall, ink(.65))
	style.XAlign = draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: place(c, p, points[len(points)-1:])[0].Y + 2}, m.words)
}
