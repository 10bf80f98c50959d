package gpu

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/plots"
)

// History is the samples of one device in the order of time. A very long one
// has means of neighbouring samples at its beginning.
//
// A history shows itself in a notebook as its figure.
type History struct {
	Name    string
	Host    bool // the samples are of the host and not of a GPU
	Samples []Sample
}

// coarser halves the samples by taking the mean of each pair.
func coarser(samples []Sample) []Sample {
	for i := 0; i+1 < len(samples); i += 2 {
		samples[i/2] = between(samples[i], samples[i+1])
	}
	return samples[: len(samples)/2 : cap(samples)]
}

// between is the mean of two samples. Joules, which count up, are those of the
// later one, and so is the time.
func between(a, b Sample) Sample {
	mean := func(x, y float64) float64 {
		switch {
		case math.IsNaN(x):
			return y
		case math.IsNaN(y):
			return x
		}
		return x/2 + y/2
	}
	later := func(x, y float64) float64 {
		if math.IsNaN(y) {
			return x
		}
		return y
	}
	return Sample{
		At:          b.At,
		Busy:        mean(a.Busy, b.Busy),
		ProcessBusy: mean(a.ProcessBusy, b.ProcessBusy),
		MemUsed:     mean(a.MemUsed, b.MemUsed),
		MemTotal:    later(a.MemTotal, b.MemTotal),
		ProcessMem:  mean(a.ProcessMem, b.ProcessMem),
		Watts:       mean(a.Watts, b.Watts),
		WattsLimit:  later(a.WattsLimit, b.WattsLimit),
		Joules:      later(a.Joules, b.Joules),
		Celsius:     mean(a.Celsius, b.Celsius),
		ClockMHz:    mean(a.ClockMHz, b.ClockMHz),
		SMs:         mean(a.SMs, b.SMs),
		Occupancy:   mean(a.Occupancy, b.Occupancy),
		TensorCores: mean(a.TensorCores, b.TensorCores),
		MemoryBus:   mean(a.MemoryBus, b.MemoryBus),
		Slowed:      cmp.Or(b.Slowed, a.Slowed),
	}
}

// Between is the part of the history from one moment to another.
func (h History) Between(from, to time.Time) History {
	part := History{Name: h.Name, Host: h.Host}
	for _, s := range h.Samples {
		if !s.At.Before(from) && !s.At.After(to) {
			part.Samples = append(part.Samples, s)
		}
	}
	return part
}

// Joules is the energy used from the first sample to the last, by the device's
// own counter, or NaN if it has none.
func (h History) Joules() float64 {
	first, last := math.NaN(), math.NaN()
	for _, s := range h.Samples {
		if !math.IsNaN(s.Joules) {
			if math.IsNaN(first) {
				first = s.Joules
			}
			last = s.Joules
		}
	}
	return last - first
}

// Energy is the joules used from one moment to another, NaN if nobody knows: by the
// device's own counter, or where it has none, estimated, as the integral of the
// power. Between two samples both are taken to grow evenly.
func (h History) Energy(from, to time.Time) (joules float64, estimated bool) {
	if !from.Before(to) {
		return math.NaN(), false
	}
	counter := func(at time.Time) float64 { return h.at(at, func(s Sample) float64 { return s.Joules }) }
	if j := counter(to) - counter(from); !math.IsNaN(j) {
		return j, false
	}
	power := func(s Sample) float64 { return s.Watts }
	sum, last, watts := 0.0, from, h.at(from, power)
	add := func(at time.Time, w float64) {
		sum += (watts + w) / 2 * at.Sub(last).Seconds()
		last, watts = at, w
	}
	for _, s := range h.Samples {
		if s.At.After(from) && s.At.Before(to) && !math.IsNaN(s.Watts) {
			add(s.At, s.Watts)
		}
	}
	add(to, h.at(to, power))
	return sum, true
}

// edge is by how much a moment may lie outside of the samples: training begins a
// little before the first and ends a little after the last.
const edge = 2 * time.Second

// at is a quantity at a moment, between the samples around it. It is that of the
// first or last sample for a moment just outside of them, and NaN for any other.
func (h History) at(t time.Time, of func(Sample) float64) float64 {
	var before, after *Sample
	for i := range h.Samples {
		s := &h.Samples[i]
		switch {
		case math.IsNaN(of(*s)):
		case !s.At.After(t):
			before = s
		case after == nil:
			after = s
		}
	}
	switch {
	case before != nil && after != nil:
		share := t.Sub(before.At).Seconds() / after.At.Sub(before.At).Seconds()
		return of(*before) + share*(of(*after)-of(*before))
	case before != nil && t.Sub(before.At) <= edge:
		return of(*before)
	case after != nil && after.At.Sub(t) <= edge:
		return of(*after)
	}
	return math.NaN()
}

// Slowed says for what share of the samples the clock was kept down, and mostly by
// what.
func (h History) Slowed() (share float64, why string) {
	counts := map[string]int{}
	for _, s := range h.Samples {
		if s.Slowed != "" {
			share += 1 / float64(len(h.Samples))
			counts[s.Slowed]++
		}
	}
	for words, n := range counts {
		if n > counts[why] || n == counts[why] && words < why {
			why = words
		}
	}
	return share, why
}

// Data is what [plots.DeviceUse] draws: the history with times in seconds since
// start. The epochs are the moments at which epochs of training began, and at
// last the one at which the last ended.
func (h History) Data(start time.Time, epochs ...time.Time) plots.DeviceData {
	d := plots.DeviceData{Name: h.Name, BusyName: "GPU busy"}
	if h.Host {
		d.BusyName = "CPU busy"
	}
	for _, s := range h.Samples {
		d.Seconds = append(d.Seconds, s.At.Sub(start).Seconds())
		d.Busy = append(d.Busy, s.Busy)
		d.ProcessBusy = append(d.ProcessBusy, s.ProcessBusy)
		d.SMs = append(d.SMs, s.SMs)
		d.TensorCores = append(d.TensorCores, s.TensorCores)
		d.Memory = append(d.Memory, s.MemUsed)
		d.ProcessMem = append(d.ProcessMem, s.ProcessMem)
		d.Watts = append(d.Watts, s.Watts)
		if s.MemTotal > 0 { // false for NaN
			d.MemoryTotal = s.MemTotal
		}
		if s.WattsLimit > 0 {
			d.WattsLimit = s.WattsLimit
		}
	}
	if joules := h.Joules(); joules > 0 {
		d.Joules = joules
	}
	if share, why := h.Slowed(); share > 0 {
		d.Slowed = fmt.Sprintf("slowed by %s %.0f %% of the time", why, math.Ceil(100*share))
	}
	for _, e := range epochs {
		d.Epochs = append(d.Epochs, e.Sub(start).Seconds())
	}
	return d
}

// Figure draws the history, with times since its first sample.
func (h History) Figure() *plots.Figure {
	var start time.Time
	if len(h.Samples) > 0 {
		start = h.Samples[0].At
	}
	return plots.DeviceUse(h.Data(start))
}

// MIMEBundle is that of the figure.
func (h History) MIMEBundle() map[string]any { return h.Figure().MIMEBundle() }

// MIMEMetadata is that of the figure.
func (h History) MIMEMetadata() map[string]any { return h.Figure().MIMEMetadata() }
