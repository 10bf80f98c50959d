package plots

import (
	"cmp"
	"math"
	"slices"
)

// point is one sample of a series.
type point struct{ x, y float64 }

// maxColumns is the number of columns that a curve is reduced to. At most four points per
// column reach the canvas.
const maxColumns = 240

// extreme is the absolute value above which a number is not drawable: an axis could not
// represent the difference of two such numbers.
const extreme = 1e300

// drawable reports whether v has a position on an axis.
func drawable(v float64, log bool) bool {
	return math.Abs(v) <= extreme && (!log || v > 1/extreme)
}

// reduce keeps the first, lowest, highest and last point of each of maxColumns columns between
// lo and hi. The line through them covers the same pixels as the line through all points ("M4":
// Jugel et al., VLDB 2014). If x goes back and forth, each column is instead a run of equally
// many points.
func reduce(points []point, lo, hi float64, log bool) []point {
	if len(points) <= 4*maxColumns {
		return points
	}
	column := func(i int) int { return i * maxColumns / len(points) }
	if slices.IsSortedFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) }) {
		scale := func(x float64) float64 { return x }
		if log {
			scale = math.Log
		}
		left, width := scale(lo), scale(hi)-scale(lo)
		column = func(i int) int { return int((scale(points[i].x) - left) / width * maxColumns) }
	}
	kept := make([]point, 0, 4*maxColumns)
	for i := 0; i < len(points); {
		low, high, j := i, i, i
		for ; j < len(points) && column(j) == column(i); j++ {
			if points[j].y < points[low].y {
				low = j
			}
			if points[j].y > points[high].y {
				high = j
			}
		}
		previous := -1
		for _, k := range [...]int{i, min(low, high), max(low, high), j - 1} {
			if k != previous {
				kept = append(kept, points[k])
			}
			previous = k
		}
		i = j
	}
	return kept
}

// smooth returns an exponential moving average over about window points, corrected for its
// start at zero as in Adam and TensorBoard. It skips points that are not drawable.
func smooth(points []point, window float64) []point {
	keep := 1 - 1/max(window, 1)
	out := make([]point, 0, len(points))
	var mean, weight float64
	for _, p := range points {
		if drawable(p.y, false) {
			mean = keep*mean + (1-keep)*p.y
			weight = keep*weight + (1 - keep)
			out = append(out, point{p.x, mean / weight})
		} else {
			out = append(out, p) // keep the gap
		}
	}
	return out
}

// centered returns a moving average over up to k points before and after each point. Unlike an
// exponential one, it does not lag.
func centered(points []point, k int) []point {
	out := make([]point, len(points))
	for i, p := range points {
		var sum, n float64
		for _, q := range points[max(0, i-k):min(len(points), i+k+1)] {
			sum += q.y / float64(2*k+1)
			n++
		}
		out[i] = point{p.x, sum / n * float64(2*k+1)}
	}
	return out
}

// interval summarizes the points of a short range of x.
type interval struct{ x, low, mean, high float64 }

// intervals divides points into at most count intervals of equal length in x and returns the
// mean and range of each. It skips points that are not drawable. An interval without points
// breaks the series, so each slice of the result is one unbroken run.
func intervals(points []point, count int, lo, hi float64) [][]interval {
	var runs [][]interval
	var run []interval
	flush := func() {
		if len(run) > 0 {
			runs, run = append(runs, run), nil
		}
	}
	stretch := func(p point) int { return int((p.x - lo) / (hi - lo) * float64(count)) }
	if len(points) <= count {
		stretch = nil
	}
	for i := 0; i < len(points); {
		j := i + 1
		for stretch != nil && j < len(points) && stretch(points[j]) == stretch(points[i]) {
			j++
		}
		v := interval{low: math.Inf(1), high: math.Inf(-1)}
		n := 0.0
		for _, p := range points[i:j] {
			if drawable(p.y, false) && drawable(p.x, false) {
				n++
				v.x += (p.x - v.x) / n
				v.mean += (p.y - v.mean) / n
				v.low, v.high = min(v.low, p.y), max(v.high, p.y)
			}
		}
		if n == 0 {
			flush()
		} else {
			run = append(run, v)
		}
		i = j
	}
	flush()
	return runs
}

// runs splits points at those that are not drawable, which it returns as bad.
func runs(points []point, logX, logY bool) (parts [][]point, bad []point) {
	start := 0
	for i, p := range points {
		if drawable(p.y, logY) && drawable(p.x, logX) {
			continue
		}
		if start < i {
			parts = append(parts, points[start:i])
		}
		start = i + 1
		bad = append(bad, p)
	}
	if start < len(points) {
		parts = append(parts, points[start:])
	}
	return parts, bad
}

// limits is the range of an axis. The zero value is empty.
type limits struct {
	lo, hi float64
	some   bool
}

func (l *limits) add(values ...float64) {
	for _, v := range values {
		if !l.some {
			l.lo, l.hi, l.some = v, v, true
		}
		l.lo, l.hi = min(l.lo, v), max(l.hi, v)
	}
}

// widened returns a valid range for an axis: not empty, with ends that differ by more than the
// resolution of float64.
func (l limits) widened(log bool) limits {
	switch {
	case !l.some && log:
		return limits{.1, 10, true}
	case !l.some:
		return limits{0, 1, true}
	case log:
		if l.hi/l.lo < 1+1e-6 {
			return limits{l.lo / 2, l.hi * 2, true}
		}
		return l
	}
	size := max(math.Abs(l.lo), math.Abs(l.hi))
	if size < 1/extreme {
		return limits{0, 1, true}
	}
	const rounding = 1e-13 // of a sum of some hundred equal values
	if l.hi-l.lo < size*rounding {
		if l.lo > 0 {
			return limits{0, l.hi * 1.5, true}
		}
		return limits{l.lo * 1.5, 0, true}
	}
	return l
}
