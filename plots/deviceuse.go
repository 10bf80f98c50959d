package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	numbers "github.com/quernlab/quern/internal/quantity"
)

// DeviceData holds measurements of one device over time. Each slice has one value for each
// entry of Seconds, or is nil; NaN means not measured. [DeviceUse] reads the slices before it
// returns.
type DeviceData struct {
	Name     string    // name of the device, such as "NVIDIA H200"; empty means "Device"
	BusyName string    // "busy" when empty
	Seconds  []float64 // since the beginning, ascending

	Busy        []float64 // percent, from 0 to 100, of all processes
	ProcessBusy []float64 // the part of Busy due to this process
	SMs         []float64 // percent of the SMs that were active
	TensorCores []float64 // percent of the time that the tensor cores were active

	Memory      []float64 // bytes in use by all processes
	ProcessMem  []float64 // bytes of this process
	MemoryTotal float64   // bytes of the device; 0 if unknown

	Watts      []float64 // power
	WattsLimit float64   // 0 if unknown

	Celsius  []float64 // temperature
	ClockMHz []float64 // of the SMs

	// Joules is the total energy. If it is 0, the energy is estimated from Watts and shown with
	// the word "about".
	Joules float64

	// Epochs holds the times in seconds at which the training epochs began, followed by the
	// time at which the last one ended.
	Epochs []float64

	// Slowed is a sentence on what reduced the clock, such as "the power limit reduced its clock in 40 % of the
	// samples." It is empty if nothing did. That of the others is not shown.
	Slowed string

	// Others are further devices that work together with this one, such as those of other
	// ranks. Their busy time, memory and power are drawn as lines of their own, and their
	// energy is added to the total.
	Others []DeviceData
}

// DeviceUse draws the busy time, the memory, the power, the temperature and the clock of a device in panels below
// each other, with one time axis. A quantity without any value is left out. With several devices
// there is a line for each.
//
// Long series are drawn as the mean of short intervals, within a band from their minimum to
// their maximum. Epochs are faint stripes, limits are dashed lines. The subtitle has the means and
// peaks of all processes, and those of this process as far as they were measured.
func DeviceUse(d DeviceData) *Figure {
	d.Name, d.BusyName = cmp.Or(d.Name, "Device"), cmp.Or(d.BusyName, "busy")
	k := deviceUse{
		epochs:  append([]float64(nil), d.Epochs...),
		names:   []string{d.Name},
		sampled: len(d.Seconds) > 0,
	}
	k.addEnergy(d)
	size, name := memoryUnit(d)
	busy := quantity{label: d.BusyName, mean: d.over(d.Busy, 1), top: 100, percent: true, hue: 0}
	memory := quantity{label: "memory, " + name, mean: d.over(d.Memory, size), limit: d.MemoryTotal / size, unit: name, total: true, hue: 2}
	power := quantity{label: "power, W", mean: d.over(d.Watts, 1), limit: d.WattsLimit, unit: "W", hue: 1}
	heat := quantity{label: "temperature, " + celsius, mean: d.over(d.Celsius, 1), unit: celsius, hue: 7}
	clock := quantity{label: "clock, MHz", mean: d.over(d.ClockMHz, 1), unit: "MHz", hue: 4}
	busy.add(thisProcess, d.over(d.ProcessBusy, 1), busy.hue, true)
	busy.add("multiprocessors", d.over(d.SMs, 1), 3, false)
	busy.add("tensor cores", d.over(d.TensorCores, 1), 4, false)
	memory.add(thisProcess, d.over(d.ProcessMem, size), memory.hue, true)
	for i, other := range d.Others {
		k.addEnergy(other)
		label := other.Name
		if label == d.Name || label == "" {
			label = "device " + plain(float64(i+1), 1)
		}
		k.names = append(k.names, label)
		color := otherHues[i%len(otherHues)]
		dashed := i/len(otherHues)%2 == 1
		busy.addDevice(label, other.over(other.Busy, 1), color, dashed)
		memory.addDevice(label, other.over(other.Memory, size), color, dashed)
		power.addDevice(label, other.over(other.Watts, 1), color, dashed)
		heat.addDevice(label, other.over(other.Celsius, 1), color, dashed)
		clock.addDevice(label, other.over(other.ClockMHz, 1), color, dashed)
	}
	k.quantities = []quantity{busy, memory, power, heat, clock}
	if d.Slowed != "" {
		k.notes = []string{d.Name + ": " + d.Slowed}
	}
	return newFigure(d.Name, k)
}

// otherHues are the hues of the other devices: first those that the first device does not use,
// and none that its three panels use. After these, the lines have dashes.
var otherHues = [...]int{5, 6, 7, 3, 4}

// over returns values against d.Seconds, divided by unit.
func (d DeviceData) over(values []float64, unit float64) []point {
	if len(values) == 0 {
		return nil
	}
	points := Series{X: append([]float64{}, d.Seconds...), Y: values}.points() // X is never nil, which would mean 0, 1, 2…
	for i := range points {
		points[i].y /= unit
	}
	return points
}

const celsius = "°C"

// thisProcess is the name of the lines of the process.
const thisProcess = "this process"

// add adds another line to a quantity if at least one of its values is drawable.
func (q *quantity) add(name string, points []point, color int, dashed bool) {
	if heights(points).some {
		q.further = append(q.further, furtherLine{name: name, points: points, hue: color, dashed: dashed})
	}
}

// addDevice adds the line of another device, if it has one.
func (q *quantity) addDevice(name string, points []point, color int, dashed bool) {
	before := len(q.further)
	if q.add(name, points, color, dashed); len(q.further) > before {
		q.further[before].device = true
	}
}

// addEnergy adds the energy of a device, from its counter or else from its power.
func (k *deviceUse) addEnergy(d DeviceData) {
	if d.Joules > 0 {
		k.joules += d.Joules
		return
	}
	if watts, seconds := average(d.over(d.Watts, 1)); !math.IsNaN(watts) && seconds > 0 {
		k.joules += watts * seconds
		k.estimated = true
	}
}

// memoryUnit returns the unit in which the largest memory value has at most three digits before
// the decimal point.
func memoryUnit(d DeviceData) (size float64, name string) {
	most := 0.0
	for _, one := range append([]DeviceData{d}, d.Others...) {
		for _, v := range append(append([]float64(nil), one.Memory...), one.ProcessMem...) {
			if drawable(v, false) {
				most = max(most, v)
			}
		}
	}
	return numbers.Unit(most)
}

type deviceUse struct {
	quantities []quantity
	joules     float64 // of all devices
	estimated  bool    // part of the energy is from the power
	epochs     []float64
	notes      []string
	names      []string // of the devices
	sampled    bool     // there are samples, though perhaps without any quantity
}

// quantity is a measured quantity, which one panel shows.
type quantity struct {
	label   string
	mean    []point
	further []furtherLine
	top     float64 // of the axis; 0: from the data
	limit   float64 // 0 or NaN if unknown
	unit    string
	total   bool // the limit is a capacity, not the start of throttling
	percent bool
	hue     int
}

// furtherLine is an additional line of a panel: a part of its quantity, or the same quantity of
// another device.
type furtherLine struct {
	name   string
	points []point
	hue    int
	dashed bool
	device bool // it is of another device
}

// limits returns the ranges of the drawable values; y.some is false if there are none.
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
	headHeight  = 58  // height of the header and border of a device figure, in CSS pixels
	legendRow   = 17  // height of its legend, if any
	panelHeight = 108 // height of each panel
)

// maxStripes is the largest number of epochs that are drawn as stripes. More stripes would be
// too narrow to distinguish.
const maxStripes = 100

func (k deviceUse) size() (width, height float64) {
	height = headHeight + panelHeight*float64(max(1, len(k.measured())))
	if len(k.legend()) > 0 {
		height += legendRow
	}
	return defaultWidth, height
}

// legend returns an entry for each line of any panel, each name once, or nil if every panel has
// a single line.
func (k deviceUse) legend() []entry {
	var all []entry
	for _, q := range k.measured() {
		for _, f := range q.further {
			if !slices.ContainsFunc(all, func(e entry) bool { return e.name == f.name }) {
				e := entry{name: f.name, color: hue(f.hue)}
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
	first := entry{name: "all processes", color: hue(k.measured()[0].hue)}
	if len(k.names) > 1 {
		first.name = k.names[0]
	}
	return append([]entry{first}, all...)
}

func (k deviceUse) sections(l settings) []section {
	quantities := k.measured()
	s := section{title: l.title, subtitle: k.findings(), height: 1, legend: k.legend(), notes: k.notes}
	if len(quantities) == 0 {
		inside := "no samples yet"
		s.subtitle = "no samples"
		if k.sampled {
			s.subtitle = "the driver or system reports no utilization, memory, power, temperature or clock"
			inside = "nothing was measured"
		}
		s.body = func(c draw.Canvas) { centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), inside) }
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
			r.weight = 1.15 // it also has the axis labels
		}
		body = append(body, r)
	}
	s.body = body.draw
	return []section{s}
}

// panel draws the quantity. The first panel names the epochs, the last one has the time labels.
func (q quantity) panel(x limits, epochs []float64, first, last bool) panel {
	p := axes()
	scale(&p.X, x, false, timed{8})
	if !last {
		p.X.Tick.Marker = unlabeled{p.X.Tick.Marker}
		p.X.Tick.Length = 0
	}
	if len(epochs) > maxStripes {
		epochs = nil // too narrow to be seen
	}
	for i := 0; i+1 < len(epochs); i++ {
		m := stripe{from: epochs[i], to: epochs[i+1], shaded: i%2 == 0}
		if first {
			m.label = "epoch " + plain(float64(i+1), 1)
		}
		if drawable(m.from, false) && drawable(m.to, false) {
			p.Add(m)
		}
	}
	p.Add(grid{})
	color := hue(q.hue)
	for _, run := range intervals(q.mean, maxColumns, x.lo, x.hi) {
		p.Add(area{means(run), at(color, opacityArea)}, band{run, at(color, opacityRange)}, line(means(run), color, 1.3))
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
			suffix := " " + q.unit + " limit"
			if q.total {
				suffix = " " + q.unit + " total"
			}
			p.Add(level{q.limit, value(q.limit) + suffix})
		default:
			// The limit is far above the data, which would be flat below it: put it into the
			// label.
			label += " of " + value(q.limit)
		}
	}
	count, format := 3, plain
	if q.percent {
		count, format = 2, percent
	}
	scale(&p.Y, limits{min(0, y.lo), top, true}, false, linear{count: count, format: format})
	return panel{plot: p, label: label}
}

// means returns the means of the intervals as points of a line.
func means(run []interval) []point {
	points := make([]point, len(run))
	for i, v := range run {
		points[i] = point{v.x, v.mean}
	}
	return points
}

// findings summarizes the measurements for the subtitle: those of all processes, which include the
// energy, and those of this process.
func (k deviceUse) findings() string {
	all, memory := "all processes: ", "peak memory "
	if n := len(k.names); n > 1 {
		all, memory = fmt.Sprintf("all processes, %d devices: ", n), "peak memory of one "
	}
	var ofAll, ofOwn []string
	add := func(name string, lines [][]point, ownName string, own [][]point, text func([][]point) string) {
		if v := text(lines); v != "" {
			ofAll, ownName = append(ofAll, name+v), "" // the words are not repeated
		}
		if v := text(own); v != "" {
			ofOwn = append(ofOwn, ownName+v)
		}
	}
	for _, q := range k.quantities {
		own, devices := q.lines()
		switch {
		case q.percent:
			add("mean utilization ", devices, "mean utilization ", own, meanPercent)
		case q.total:
			add(memory, devices, "peak memory ", own, func(lines [][]point) string { return highest(lines, q.unit) })
		}
	}
	switch {
	case k.joules > 0 && k.estimated:
		ofAll = append(ofAll, "about "+energy(k.joules))
	case k.joules > 0:
		ofAll = append(ofAll, energy(k.joules))
	}
	text := ""
	if len(ofAll) > 0 {
		text = all + strings.Join(ofAll, ", ")
	}
	if len(ofOwn) > 0 {
		text += "; this process: " + strings.Join(ofOwn, ", ")
	}
	for _, q := range k.quantities {
		if _, devices := q.lines(); q.unit == celsius {
			if y := heights(devices...); y.some {
				text += fmt.Sprintf("; highest temperature %.0f %s", y.hi, celsius)
			}
		}
	}
	return strings.TrimPrefix(text, "; ")
}

// lines returns the lines of this process, and those of all processes, one for each device.
func (q quantity) lines() (own, devices [][]point) {
	devices = [][]point{q.mean}
	for _, f := range q.further {
		switch {
		case f.device:
			devices = append(devices, f.points)
		case f.dashed:
			own = append(own, f.points)
		}
	}
	return own, devices
}

// meanPercent returns the mean over time of lines; it is empty if nothing was measured.
func meanPercent(lines [][]point) string {
	sum, n := 0.0, 0.0
	for _, points := range lines {
		if mean, _ := average(points); !math.IsNaN(mean) {
			sum, n = sum+mean, n+1
		}
	}
	if n == 0 {
		return ""
	}
	return decimals(sum/n, 0) + " %"
}

// highest returns the highest value of lines; it is empty if nothing was measured.
func highest(lines [][]point, unit string) string {
	y := heights(lines...)
	if !y.some {
		return ""
	}
	return value(y.hi) + " " + unit
}

// heights returns the range of the drawable values of lines.
func heights(lines ...[]point) (y limits) {
	var x limits
	for _, points := range lines {
		ranges(&x, &y, points, false, false)
	}
	return y
}

// average returns the mean over time, where each value holds until the next one, and the
// seconds covered. If all values have the same time, it returns their unweighted mean.
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
