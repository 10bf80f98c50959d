package plots

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"
)

// DeviceData is how a device was used over time. All slices belong to Seconds,
// value by value, and may be nil; NaN is a value that was not measured. They
// are read while [DeviceUse] runs and not later.
type DeviceData struct {
	Name     string    // of the device, such as "NVIDIA H200"; "Device" when empty
	BusyName string    // "busy" when empty
	Seconds  []float64 // since the beginning, ascending

	Busy        []float64 // percent, from 0 to 100
	ProcessBusy []float64 // the part of Busy that this process had
	SMs         []float64 // of the multiprocessors, that worked
	TensorCores []float64 // of the time that they worked

	Memory      []float64 // bytes used
	ProcessMem  []float64 // bytes of this process
	MemoryTotal float64   // bytes there are; 0 when not known

	Watts      []float64
	WattsLimit float64 // 0 when not known

	// Joules is the energy used in all, 0 when not known. It is then estimated
	// from the watts, and marked as such.
	Joules float64

	// Epochs is the seconds at which epochs of training began, and at last the
	// one at which the last ended.
	Epochs []float64

	// Slowed says what kept the clock down, such as "slowed by the power limit 40 % of
	// the time"; empty if nothing did.
	Slowed string

	// Others are further devices that work together with this one, as those of other
	// ranks do. Their busy time, memory and power are lines beside its own; their
	// energy is added to its.
	Others []DeviceData
}

// DeviceUse draws how busy a device was, its memory and its power, below each
// other over one time axis. A quantity without a single value is left out. Of
// several devices there is a line each.
//
// Many values are drawn as the mean of short intervals within a band from
// their minimum to their maximum. Epochs are faint stripes, limits dashed
// lines.
func DeviceUse(d DeviceData) *Figure {
	if d.Name == "" {
		d.Name = "Device"
	}
	if d.BusyName == "" {
		d.BusyName = "busy"
	}
	k := deviceUse{
		joules: d.Joules,
		epochs: append([]float64(nil), d.Epochs...),
		slowed: d.Slowed,
		names:  []string{d.Name},
	}
	size, name := memoryUnit(d)
	busy := quantity{label: d.BusyName, mean: d.over(d.Busy, 1), top: 100, percent: true, hue: 0}
	memory := quantity{label: "memory, " + name, mean: d.over(d.Memory, size), limit: d.MemoryTotal / size, unit: name, total: true, hue: 2}
	power := quantity{label: "power, W", mean: d.over(d.Watts, 1), limit: d.WattsLimit, unit: "W", hue: 1}
	busy.add("this process", d.over(d.ProcessBusy, 1), busy.hue, true)
	busy.add("multiprocessors", d.over(d.SMs, 1), 3, false)
	busy.add("tensor cores", d.over(d.TensorCores, 1), 4, false)
	memory.add("this process", d.over(d.ProcessMem, size), memory.hue, true)
	for i, other := range d.Others {
		if k.joules > 0 {
			k.joules += other.Joules
		}
		label := other.Name
		if label == d.Name || label == "" {
			label = "device " + plain(float64(i+1), 1)
		}
		k.names = append(k.names, label)
		colour := otherHues[i%len(otherHues)]
		busy.add(label, other.over(other.Busy, 1), colour, false)
		memory.add(label, other.over(other.Memory, size), colour, false)
		power.add(label, other.over(other.Watts, 1), colour, false)
	}
	k.quantities = []quantity{busy, memory, power}
	return newFigure(d.Name, k)
}

// otherHues are those of the other devices: first those that the first device does not have,
// and none of its three panels.
var otherHues = [...]int{5, 6, 7, 8, 9, 3, 4}

// over is values over the seconds, in a unit.
func (d DeviceData) over(values []float64, unit float64) []point {
	if len(values) == 0 {
		return nil
	}
	points := Series{X: d.Seconds, Y: values}.points()
	if d.Seconds == nil {
		points = Series{X: []float64{}, Y: values}.points()
	}
	for i := range points {
		points[i].y /= unit
	}
	return points
}

// add puts a further line into a quantity, if it has a single value.
func (q *quantity) add(name string, points []point, colour int, dashed bool) {
	var x, y limits
	if ranges(&x, &y, points, false, false); y.some {
		q.further = append(q.further, furtherLine{name, points, colour, dashed})
	}
}

// memoryUnit is the unit in which the memory has at most three digits before
// the point.
func memoryUnit(d DeviceData) (size float64, name string) {
	most := 0.0
	for _, one := range append([]DeviceData{d}, d.Others...) {
		for _, v := range append(append([]float64(nil), one.Memory...), one.ProcessMem...) {
			if drawable(v, false) {
				most = max(most, v)
			}
		}
	}
	size, name = 1, "bytes"
	for _, next := range [...]string{"KiB", "MiB", "GiB", "TiB"} {
		if most < 1000*size {
			break
		}
		size, name = size*1024, next
	}
	return size, name
}

type deviceUse struct {
	quantities []quantity
	joules     float64
	epochs     []float64
	slowed     string
	names      []string // of the devices
}

// quantity is one panel.
type quantity struct {
	label   string
	mean    []point
	further []furtherLine
	top     float64 // of the axis; 0 leaves it to the data
	limit   float64 // 0 or NaN when not known
	unit    string
	total   bool // the limit is all there is, not where slowing begins
	percent bool
	hue     int
}

// furtherLine is a part of a quantity, or that of another device.
type furtherLine struct {
	name   string
	points []point
	hue    int
	dashed bool
}

// range of what can be drawn in a quantity, and whether there is anything.
func (q quantity) limits() (x, y limits) {
	ranges(&x, &y, q.mean, false, false)
	for _, f := range q.further {
		ranges(&x, &y, f.points, false, false)
	}
	return x, y
}

func (k deviceUse) measured() []quantity {
	var some []quantity
	for _, q := range k.quantities {
		if _, y := q.limits(); y.some {
			some = append(some, q)
		}
	}
	return some
}

const (
	headHeight  = 58  // of a device figure's header and border, in CSS pixels
	legendRow   = 17  // of its legend, if any
	panelHeight = 108 // of each of its panels
)

// maxStripes is the number of epochs up to which each can be seen.
const maxStripes = 100

func (k deviceUse) size() (width, height float64) {
	height = headHeight + panelHeight*float64(max(1, len(k.measured())))
	if len(k.legend()) > 0 {
		height += legendRow
	}
	return defaultWidth, height
}

// legend names the lines of all panels, each name once; nil where each panel has one
// line.
func (k deviceUse) legend() []entry {
	var all []entry
	for _, q := range k.measured() {
		for _, f := range q.further {
			if !slices.ContainsFunc(all, func(e entry) bool { return e.name == f.name }) {
				e := entry{name: f.name, colour: hue(f.hue)}
				if f.dashed {
					e.dashes = dashes
				}
				all = append(all, e)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	first := entry{name: "in all", colour: hue(k.measured()[0].hue)}
	if len(k.names) > 1 {
		first.name = k.names[0]
	}
	return append([]entry{first}, all...)
}

func (k deviceUse) sections(l look) []section {
	quantities := k.measured()
	s := section{title: l.title, subtitle: k.finding(), height: 1, legend: k.legend()}
	if len(quantities) == 0 {
		s.subtitle = "no samples"
		s.body = bodyFunc(func(c draw.Canvas) {
			centredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no samples yet")
		})
		return []section{s}
	}
	var x limits
	for _, q := range quantities {
		in, _ := q.limits()
		x.add(in.lo, in.hi)
	}
	x = x.widened(false)
	var body rows
	for i, q := range quantities {
		r := row{panels: []panel{q.panel(x, k.epochs, i == 0, i == len(quantities)-1)}, weight: 1}
		if i == 0 && len(k.epochs) > 1 {
			r.headroom = 3
			r.weight = 1.04
		}
		if i == len(quantities)-1 {
			r.weight = 1.15 // its axis has the labels
		}
		body = append(body, r)
	}
	s.body = body
	return []section{s}
}

// panel draws the quantity; the first one names the epochs, the last one the
// times.
func (q quantity) panel(x limits, epochs []float64, first, last bool) panel {
	p := axes()
	scale(&p.X, x, false, timed{8})
	if !last {
		p.X.Tick.Marker = silent{p.X.Tick.Marker}
		p.X.Tick.Length = 0
	}
	if len(epochs) > maxStripes {
		epochs = nil // they would be a haze
	}
	for i := 0; i+1 < len(epochs); i++ {
		m := stripe{from: epochs[i], to: epochs[i+1], shaded: i%2 == 0}
		if first {
			m.words = "epoch " + plain(float64(i+1), 1)
		}
		if drawable(m.from, false) && drawable(m.to, false) {
			p.Add(m)
		}
	}
	p.Add(grid{})
	colour := hue(q.hue)
	for _, run := range intervals(q.mean, maxColumns, x.lo, x.hi) {
		p.Add(area{means(run), at(colour, opacityArea)}, band{run, at(colour, opacityRange)}, line(means(run), colour, 1.3))
	}
	for _, f := range q.further {
		for _, run := range intervals(f.points, maxColumns, x.lo, x.hi) {
			further := line(means(run), hue(f.hue), 1.1)
			if f.dashed {
				further.style.Dashes = dashes
			}
			p.Add(further)
		}
	}
	_, y := q.limits()
	label := q.label
	top := q.top
	if top == 0 {
		top = y.hi * 1.16
		switch {
		case !(q.limit > 0) || math.IsInf(q.limit, 0):
		case y.hi > q.limit/4:
			top = max(y.hi, q.limit) * 1.16
			words := " " + q.unit + " limit"
			if q.total {
				words = " " + q.unit + " total"
			}
			p.Add(level{q.limit, value(q.limit) + words})
		default:
			// The limit is far above the data: drawn, it would press them flat.
			label += " of " + value(q.limit)
		}
	}
	count, format := 3, plain
	if q.percent {
		count, format = 2, percent
	}
	scale(&p.Y, limits{min(0, y.lo), top, true}, false, linear{count: count, format: format})
	return panel{p, label}
}

// means is the line through the means of intervals.
func means(run []interval) []point {
	points := make([]point, len(run))
	for i, v := range run {
		points[i] = point{v.x, v.mean}
	}
	return points
}

// finding is what the device did in all.
func (k deviceUse) finding() string {
	var parts []string
	for _, q := range k.quantities {
		_, y := q.limits()
		mean, seconds := average(q.mean)
		switch {
		case !y.some:
		case q.percent:
			if !math.IsNaN(mean) {
				parts = append(parts, "mean utilisation "+decimals(mean, 0)+" %")
			}
		case q.total:
			parts = append(parts, "peak memory "+value(y.hi)+" "+q.unit)
		case k.joules > 0:
			parts = append(parts, energy(k.joules))
		case !math.IsNaN(mean) && seconds > 0:
			joules := mean * seconds
			for _, f := range q.further { // of other devices
				if more, seconds := average(f.points); seconds > 0 {
					joules += more * seconds
				}
			}
			parts = append(parts, "about "+energy(joules))
		}
	}
	if k.slowed != "" {
		parts = append(parts, k.slowed)
	}
	return strings.Join(parts, ", ")
}

// average is the mean over time, each value standing until the next, and the
// seconds that it covers. Of values at one time it is the plain mean.
func average(points []point) (mean, seconds float64) {
	var sum, plainSum, n float64
	for i, p := range points {
		if !drawable(p.x, false) || !drawable(p.y, false) {
			continue
		}
		n++
		plainSum += (p.y - plainSum) / n
		if i+1 < len(points) && drawable(points[i+1].x, false) && points[i+1].x > p.x {
			sum += p.y * (points[i+1].x - p.x)
			seconds += points[i+1].x - p.x
		}
	}
	switch {
	case n == 0:
		return math.NaN(), 0
	case seconds == 0 || math.IsInf(sum, 0) || math.IsInf(seconds, 0):
		return plainSum, 0
	}
	return sum / seconds, seconds
}

// energy writes joules.
func energy(j float64) string {
	switch {
	case j >= 1e9:
		return value(j/1e9) + " GJ"
	case j >= 1e6:
		return value(j/1e6) + " MJ"
	case j >= 1e3:
		return value(j/1e3) + " kJ"
	}
	return value(j) + " J"
}
