package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// TrainingData is the state of a training run. [Training] reads the series before it returns. A
// series without values is left out of the figure; the names of the series are not used.
type TrainingData struct {
	Title    string // "Training" if empty
	Status   string // the progress, such as "epoch 3 of 5"; may be empty
	XName    string // the unit of x in all series; "step" if empty
	LossName string // "loss" if empty

	Loss           Series // training loss, one value per step
	ValidationLoss Series // at the steps at which it was measured

	Accuracy           Series // training accuracy, from 0 to 1
	ValidationAccuracy Series // from 0 to 1

	// Total is the x at which training ends. The axis extends to it, so that it does not move
	// during the run. 0 means unknown.
	Total float64
}

// Training draws the loss and, if there is one, the accuracy over the steps of a run.
//
// The raw values are thin and faint, below their exponential moving average over 1/120 of the
// run. Validation has a dot at each measurement, and the best one is labeled. A loss that is
// NaN or infinite is marked in red at its step and counted in the legend.
func Training(d TrainingData) *Figure {
	k := training{
		status: d.Status, xName: cmp.Or(d.XName, "step"), total: d.Total,
		loss:     metric{name: cmp.Or(d.LossName, "loss"), raw: d.Loss.points(), checks: d.ValidationLoss.points(), better: math.Min}.smoothed(),
		accuracy: metric{name: "accuracy", raw: percentPoints(d.Accuracy), checks: percentPoints(d.ValidationAccuracy), better: math.Max, percent: true}.smoothed(),
	}
	return newFigure(cmp.Or(d.Title, "Training"), k)
}

// percentPoints returns the points of a series in percent.
func percentPoints(s Series) []point {
	points := s.points()
	for i := range points {
		points[i].y *= 100
	}
	return points
}

type training struct {
	status, xName  string
	total          float64
	loss, accuracy metric
}

// metric is a quantity measured in training and in validation.
type metric struct {
	name        string
	raw, checks []point
	trend       []point                    // raw, smoothed if it is long
	better      func(a, b float64) float64 // returns the better of two values
	percent     bool
}

func (m metric) some() bool { return len(m.raw)+len(m.checks) > 0 }

func (training) size() (width, height float64) { return defaultWidth, defaultHeight }

func (k training) sections(l settings) []section {
	k.xName, k.loss.name = cmp.Or(l.labelX, k.xName), cmp.Or(l.labelY, k.loss.name)
	metrics := []metric{k.loss}
	if k.accuracy.some() {
		if !k.loss.some() {
			metrics = nil
		}
		metrics = append(metrics, k.accuracy)
	}
	var x limits
	for _, m := range metrics {
		var y limits
		ranges(&x, &y, m.raw, l.logX, false)
		ranges(&x, &y, m.checks, l.logX, false)
	}
	if x.some && k.total > x.hi && drawable(k.total, l.logX) {
		x.add(k.total)
	}
	x = x.widened(l.logX)

	r := row{weight: 1}
	var smoothed, checked bool
	var bad []point
	spikes := 0
	for _, m := range metrics {
		logY := l.logY && !m.percent
		p, gone, outside := m.panel(x, l.logX, logY, 7/len(metrics)+1)
		p.X.Label.Text = k.xName
		label := m.name
		if logY {
			label += " (log)"
		}
		r.panels = append(r.panels, panel{plot: p, label: label})
		smoothed = smoothed || m.window() > 1
		checked = checked || len(m.checks) > 0
		bad = append(bad, gone...)
		spikes += outside
	}
	legend := []entry{{name: "train", color: hue(0)}}
	if smoothed {
		legend = append(legend, entry{name: "train (raw)", color: at(faint, opacityFaint)})
	}
	if checked {
		legend = append(legend, entry{name: "validation", color: hue(1)})
	}
	return []section{{
		title:    l.title,
		subtitle: k.findings(),
		legend:   append(append(legend, beyond(spikes)...), notDrawn(bad)...),
		height:   1,
		body:     rows{r}.draw,
	}}
}

// window returns the number of steps in the moving average.
func (m metric) window() float64 { return float64(len(m.raw)) / 120 }

// smoothed returns the metric with its trend.
func (m metric) smoothed() metric {
	if m.trend = m.raw; m.window() > 1 {
		m.trend = smooth(m.raw, m.window())
	}
	return m
}

// panel draws the metric and returns the points that are not drawable, and the number of those beyond the axis.
func (m metric) panel(x limits, logX, logY bool, count int) (*plot.Plot, []point, int) {
	p := axes()
	scale(&p.X, x, logX, counter(count, logX, wholeX(m.raw) && wholeX(m.checks)))
	p.Add(grid{})

	draw := func(points []point, color color.Color, width vg.Length) (gone []point) {
		parts, gone := runs(points, logX, logY)
		for _, part := range parts {
			p.Add(line(part, color, width))
		}
		return gone
	}
	if m.window() > 1 {
		draw(m.raw, at(faint, opacityFaint), widthFaint)
	}
	draw(m.trend, hue(0), widthLine)
	_, bad := runs(m.raw, logX, logY)
	bad = append(bad, draw(m.checks, hue(1), widthLine)...)
	for _, part := range first(runs(m.checks, logX, logY)) {
		p.Add(spots{reduce(part, x.lo, x.hi, logX), 2, hue(1)})
	}
	p.Add(undrawable{bad})

	y, outside := m.height(logX, logY)
	if best, ok := m.best(logX, logY); ok {
		label := "best " + value(best.y)
		if m.percent {
			label = "best " + ratio(best.y/100)
		}
		var avoid [][]point
		strong := 0
		for i, points := range [][]point{m.trend, m.checks, m.raw} {
			for _, part := range first(runs(points, logX, logY)) {
				avoid = append(avoid, reduce(part, x.lo, x.hi, logX))
				if i < 2 {
					strong++
				}
			}
		}
		p.Add(note{at: best, label: label + " @ " + whole(best.x), below: m.percent, avoid: avoid, strong: strong})
	}
	switch {
	case m.percent:
		scale(&p.Y, y, false, linear{count: 4, format: percent})
	default:
		scale(&p.Y, y, logY, ticker(5, logY))
	}
	if len(m.raw)+len(m.checks) == 0 {
		showEmpty(p, "no data yet")
	}
	return p, bad, outside
}

func first(parts [][]point, _ []point) [][]point { return parts }

// height returns the range of the y axis: that of the trend and of the validation, extended by
// the raw values as long as they do not compress these. outside is the number of values above an axis with a spike.
func (m metric) height(logX, logY bool) (y limits, outside int) {
	var x, calm, all limits
	ranges(&x, &calm, m.trend, logX, logY)
	ranges(&x, &calm, m.checks, logX, logY)
	all = calm
	ranges(&x, &all, m.raw, logX, logY)
	if !calm.some {
		return all, 0
	}
	if logY {
		return limits{max(all.lo, calm.lo/10), min(all.hi, calm.hi*10), true}, 0
	}
	top, spiked := m.spiked(calm)
	if spiked {
		calm.hi = top
	}
	room := (calm.hi - calm.lo) / 2
	y = limits{max(all.lo, calm.lo-room), min(all.hi, calm.hi+room), true}.based()
	const rounding = 1e-6 // rounding error of the moving average
	if m.percent && calm.lo >= 0 && calm.hi <= 100+rounding {
		y.lo, y.hi = max(y.lo, 0), min(y.hi, 100)
	}
	for _, p := range slices.Concat(m.raw, m.checks) {
		if spiked && drawable(p.y, false) && p.y > y.hi {
			outside++
		}
	}
	return y, outside
}

// spiked returns the top of the axis if a few values far above all others, such as those of a
// diverging step, would flatten these. The beginning of a run never counts as such a spike.
func (m metric) spiked(y limits) (top float64, ok bool) {
	var sorted, begin []float64
	for _, points := range [][]point{m.trend, m.checks} {
		for i, p := range points {
			if !drawable(p.y, false) {
				continue
			}
			sorted = append(sorted, p.y)
			if i < firstSteps {
				begin = append(begin, p.y)
			}
		}
	}
	if len(sorted) < 4*firstSteps {
		return 0, false
	}
	slices.Sort(sorted)
	slices.Sort(begin)
	usual := max(sorted[len(sorted)*9/10], begin[len(begin)/2])
	if size := usual - y.lo; size > 0 && y.hi-y.lo > 10*size {
		return usual + size/2, true
	}
	return 0, false
}

// firstSteps is the number of values that count as the beginning of a run.
const firstSteps = 10

// best returns the best validation that can be drawn.
func (m metric) best(logX, logY bool) (best point, ok bool) {
	for _, p := range m.checks {
		if drawable(p.x, logX) && drawable(p.y, logY) && (!ok || p.y != best.y && m.better(p.y, best.y) == p.y) {
			best, ok = p, true
		}
	}
	return best, ok
}

// findings summarizes the run for the subtitle.
func (k training) findings() string {
	var parts []string
	if k.status != "" {
		parts = append(parts, k.status)
	}
	if best, ok := k.loss.best(false, false); ok {
		parts = append(parts, "best validation "+k.loss.name+" "+value(best.y)+" at "+k.xName+" "+whole(best.x))
	} else if label := k.loss.trendSummary(); label != "" {
		parts = append(parts, label)
	}
	if best, ok := k.accuracy.best(false, false); ok {
		parts = append(parts, "best accuracy "+ratio(best.y/100))
	} else if last, ok := k.accuracy.last(); ok {
		parts = append(parts, "training accuracy "+ratio(last.y/100))
	}
	if len(parts) == 0 {
		return "no data yet"
	}
	return strings.Join(parts, ", ")
}

// last returns the end of the smoothed training values.
func (m metric) last() (last point, ok bool) {
	for _, p := range slices.Backward(m.trend) {
		if drawable(p.y, false) {
			return p, true
		}
	}
	return point{}, false
}

// trendSummary says where the training values began and ended.
func (m metric) trendSummary() string {
	last, ok := m.last()
	if !ok {
		if len(m.raw) > 0 {
			return "no finite " + m.name + " in " + counted(len(m.raw), "step")
		}
		return ""
	}
	if len(m.raw) == 1 {
		return m.name + " " + value(last.y)
	}
	for _, p := range m.raw {
		if drawable(p.y, false) {
			return m.name + " from " + value(p.y) + " to " + value(last.y)
		}
	}
	return ""
}
