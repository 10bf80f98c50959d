package gpu

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/plots"
)

// History is the samples of one device in order of time. In a very long history the early
// samples are means of neighboring samples, and of memory the larger one, so that the peak stays.
//
// A notebook displays a history as its figure.
type History struct {
	Name    string   // of the device
	Host    bool     // the samples are of the host and not of a GPU
	Samples []Sample // in order of time
}

// coarser halves the number of samples by averaging pairs.
func coarser(samples []Sample) []Sample {
	for i := 0; i+1 < len(samples); i += 2 {
		samples[i/2] = between(samples[i], samples[i+1])
	}
	return samples[: len(samples)/2 : cap(samples)]
}

// between averages two samples. Time and Joules, which is a counter, are those of the later
// one, and memory is the larger one.
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
	larger := func(x, y float64) float64 {
		if math.IsNaN(x) || y > x {
			return y
		}
		return x
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
		MemUsed:     larger(a.MemUsed, b.MemUsed),
		MemTotal:    later(a.MemTotal, b.MemTotal),
		ProcessMem:  larger(a.ProcessMem, b.ProcessMem),
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

// Joules returns the energy from the first sample to the last, measured by the device's
// counter, or NaN if it has none or the counter started again, as after a reset of the driver.
func (h History) Joules() float64 {
	first, last := math.NaN(), math.NaN()
	for _, s := range h.Samples {
		if !math.IsNaN(s.Joules) {
			if math.IsNaN(first) {
				first = s.Joules
			}
			if s.Joules < last {
				return math.NaN()
			}
			last = s.Joules
		}
	}
	return last - first
}

// restarted reports whether the counter started again between two times: then its difference is
// no energy.
func (h History) restarted(from, to time.Time) bool {
	var last *Sample
	for i := range h.Samples {
		s := &h.Samples[i]
		if math.IsNaN(s.Joules) {
			continue
		}
		if last != nil && s.Joules < last.Joules && last.At.Before(to) && s.At.After(from) {
			return true
		}
		last = s
	}
	return false
}

// Energy returns the energy in joules used between two times, or NaN if it is unknown. It uses
// the device's counter or, without one or if it started again, estimates the energy as the
// integral of the power. Both are interpolated linearly between samples.
func (h History) Energy(from, to time.Time) (joules float64, estimated bool) {
	if !from.Before(to) {
		return math.NaN(), false
	}
	counter := func(at time.Time) float64 { return h.at(at, func(s Sample) float64 { return s.Joules }) }
	if j := counter(to) - counter(from); !math.IsNaN(j) && !h.restarted(from, to) {
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

// edge is how far a time may be outside the samples: training begins slightly before the first
// sample and ends slightly after the last.
const edge = 2 * time.Second

// at returns a quantity at a time, interpolated between the samples around it. It is that of
// the first or last sample for a time up to edge outside, and NaN for any other.
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

// Slowed returns the fraction of the samples whose clock was limited, and the most frequent
// reason.
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

// Data returns the history for [plots.DeviceUse], with times in seconds since start. The epochs
// are the times at which training epochs began, followed by the end of the last one.
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
		d.Celsius = append(d.Celsius, s.Celsius)
		d.ClockMHz = append(d.ClockMHz, s.ClockMHz)
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
		d.Slowed = fmt.Sprintf("%s reduced its clock in %.0f %% of the samples.", why, math.Ceil(100*share))
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

// MIMEBundle returns the MIME bundle of the figure.
func (h History) MIMEBundle() map[string]any { return h.Figure().MIMEBundle() }

// MIMEMetadata returns that of the figure.
func (h History) MIMEMetadata() map[string]any { return h.Figure().MIMEMetadata() }
