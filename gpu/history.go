package gpu

import (
	"math"
	"time"
)

// History is the samples of one device in the order of time. A very long one
// has means of neighbouring samples at its beginning.
type History struct {
	Name    string
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
	}
}

// Between is the part of the history from one moment to another.
func (h History) Between(from, to time.Time) History {
	part := History{Name: h.Name}
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
