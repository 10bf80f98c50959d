package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// roofMark is a dot with its name.
type roofMark struct {
	at    point
	name  string
	share float64
	hue   int
}

// roofMarks draws the dots of a roofline, those with the largest share first. The name of a dot
// is placed beside, above or below it, or further away with a thin leader line, where it covers
// no other name and no ceiling crosses it. If there is no such position it covers part of a
// ceiling, else a dot of a smaller share. A name without any position is left out.
type roofMarks struct {
	marks    []roofMark
	ceilings []ceiling
}

// ceiling is a line with text along its beginning and above its end.
type ceiling struct {
	line       []point
	along, end string
}

func (m roofMarks) Plot(c draw.Canvas, p *plot.Plot) {
	style := textStyle(sizeSmall, ink(.85))
	style.YAlign = draw.YCenter
	var dots, taken []vg.Rectangle
	for _, q := range m.marks {
		center := toCanvas(c, p, []point{q.at})[0]
		radius := vg.Length(2.5 + 5*math.Sqrt(max(0, min(q.share, 1))))
		spots{[]point{q.at}, radius, at(hue(q.hue), .85)}.Plot(c, p)
		dots = append(dots, rectAround(center, 2*radius, 2*radius))
	}
	var ceilings [][]vg.Point
	for _, k := range m.ceilings {
		line := toCanvas(c, p, k.line)
		ceilings = append(ceilings, line)
		taken = append(taken, k.textBoxes(line, c.Max.X, style)...)
	}
	for i, q := range m.marks {
		q.name = fitted(style, q.name, (c.Max.X-c.Min.X)*.4)
		width, height := style.Width(q.name), style.Font.Size
		boxes := labelBoxes(dots[i], width, height, c.Rectangle)
		larger := append(slices.Clone(taken), dots[:i]...)
		all := append(slices.Clone(larger), dots[i+1:]...)
		box, crossed := leastCovered(boxes, c.Rectangle, all, ceilings)
		if crossed > 0 {
			// Prefer a position further away, with a leader line, to one that a ceiling crosses.
			for _, away := range [...]vg.Length{10, 20, 32, 46} {
				far, farther := leastCovered(labelBoxes(grown(dots[i], away), width, height, c.Rectangle), c.Rectangle, all, ceilings)
				if farther == 0 {
					box, crossed = far, 0
					from, to := toward(dots[i], box)
					c.StrokeLine2(draw.LineStyle{Color: ink(.5), Width: widthGrid}, from.X, from.Y, to.X, to.Y)
					break
				}
			}
		}
		if math.IsInf(crossed, 1) {
			box, crossed = leastCovered(boxes, c.Rectangle, larger, ceilings)
		}
		if !math.IsInf(crossed, 1) {
			taken = append(taken, box)
			if crossed > 0 {
				c.FillPolygon(plate, rectangle(box.Min.X-1, box.Min.Y, width+2, height))
			}
			c.FillText(style, vg.Point{X: box.Min.X, Y: (box.Min.Y + box.Max.Y) / 2}, q.name)
		}
	}
}

// textBoxes returns the boxes of the text on a ceiling that ends at right.
func (k ceiling) textBoxes(line []vg.Point, right vg.Length, style text.Style) (boxes []vg.Rectangle) {
	height := style.Font.Size
	if k.end != "" {
		width := style.Width(k.end)
		boxes = append(boxes, rectAround(vg.Point{X: right - width/2, Y: line[len(line)-1].Y + 2 + height/2}, width, height))
	}
	if k.along == "" {
		return boxes
	}
	dx, dy := line[1].X-line[0].X, line[1].Y-line[0].Y
	length := vg.Length(math.Hypot(float64(dx), float64(dy)))
	if !(length > 0) {
		return boxes
	}
	sin, cos := dy/length, dx/length
	// Letter by letter, because the text is rotated.
	for at := slopeTextOffset; at < slopeTextOffset+style.Width(k.along); at += height / 2 {
		up := 3 + height/2
		boxes = append(boxes, rectAround(vg.Point{X: line[0].X + at*cos - up*sin, Y: line[0].Y + at*sin + up*cos}, height, height))
	}
	return boxes
}

// labelBoxes returns the candidate positions for a name of that size: right, left, above, below
// (the last two moved to stay within the sides of the canvas), and the four corners.
func labelBoxes(dot vg.Rectangle, width, height vg.Length, canvas vg.Rectangle) []vg.Rectangle {
	const gap = 3
	x, y := width/2+gap, height/2+1
	center := vg.Point{X: (dot.Min.X + dot.Max.X) / 2, Y: (dot.Min.Y + dot.Max.Y) / 2}
	middle := max(canvas.Min.X+width/2, min(canvas.Max.X-width/2, center.X))
	around := func(x, y vg.Length) vg.Rectangle { return rectAround(vg.Point{X: x, Y: y}, width, height) }
	return []vg.Rectangle{
		around(dot.Max.X+x, center.Y),
		around(dot.Min.X-x, center.Y),
		around(middle, dot.Max.Y+y),
		around(middle, dot.Min.Y-y),
		around(dot.Max.X+width/2, dot.Min.Y-y),
		around(dot.Max.X+width/2, dot.Max.Y+y),
		around(dot.Min.X-width/2, dot.Max.Y+y),
		around(dot.Min.X-width/2, dot.Min.Y-y),
	}
}

// grown returns r enlarged by a length on each side.
func grown(r vg.Rectangle, by vg.Length) vg.Rectangle {
	r.Min.X, r.Min.Y, r.Max.X, r.Max.Y = r.Min.X-by, r.Min.Y-by, r.Max.X+by, r.Max.Y+by
	return r
}

// toward returns the line from the edge of a dot to the nearest point of a box.
func toward(dot, box vg.Rectangle) (from, to vg.Point) {
	center := vg.Point{X: (dot.Min.X + dot.Max.X) / 2, Y: (dot.Min.Y + dot.Max.Y) / 2}
	to = vg.Point{X: min(max(center.X, box.Min.X), box.Max.X), Y: min(max(center.Y, box.Min.Y), box.Max.Y)}
	length := vg.Length(math.Hypot(float64(to.X-center.X), float64(to.Y-center.Y)))
	if !(length > 0) {
		return center, to
	}
	part := min((dot.Max.X-dot.Min.X)/2/length, 1)
	return vg.Point{X: center.X + (to.X-center.X)*part, Y: center.Y + (to.Y-center.Y)*part}, to
}

// rectAround returns the rectangle of that size centered on p.
func rectAround(p vg.Point, width, height vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - width/2, Y: p.Y - height/2}, Max: vg.Point{X: p.X + width/2, Y: p.Y + height/2}}
}

// overlaps reports whether a box overlaps any of others.
func overlaps(box vg.Rectangle, others []vg.Rectangle) bool {
	return slices.ContainsFunc(others, func(o vg.Rectangle) bool {
		return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
	})
}
