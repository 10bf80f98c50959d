package gpu

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestHistoryData(t *testing.T) {
	start := time.Unix(100, 0)
	h := History{Name: "fake", Samples: []Sample{
		{At: start, Busy: 10, MemUsed: 1, MemTotal: 8, Watts: 100, WattsLimit: 300, Joules: 50, Celsius: 41},
		{At: start.Add(2 * time.Second), Busy: 90, MemUsed: 2, MemTotal: 8, Watts: 200, WattsLimit: 300, Joules: 350},
	}}
	d := h.Data(start, start.Add(time.Second))
	got := fmt.Sprint(d.Name, d.BusyName, d.Seconds, d.Busy, d.Memory, d.MemoryTotal, d.Watts, d.WattsLimit, d.Joules, d.Epochs)
	want := fmt.Sprint("fake", "GPU busy", []float64{0, 2}, []float64{10, 90}, []float64{1, 2}, 8, []float64{100, 200}, 300, 300, []float64{1})
	if got != want {
		t.Errorf("\n want %s\n got  %s", want, got)
	}
	if text := h.MIMEBundle()["text/plain"]; text != "fake: all processes: mean utilization 10 %, peak memory 2.00 bytes, 300 J; this process: 0 %, 0 bytes; highest temperature 41 °C" {
		t.Errorf("text %q", text)
	}
	if text := (History{Name: "fake"}).MIMEBundle()["text/plain"]; text != "fake: no samples" {
		t.Errorf("text of an empty history %q", text)
	}
}

// Energy uses the counter, interpolated between samples, or else the integral of the power.
func TestEnergy(t *testing.T) {
	start := time.Unix(100, 0)
	after := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	history := func(counter, power bool) (h History) {
		for k := range 11 { // 0, 100, … 1000 W, each second
			s := unmeasured(after(float64(k)))
			if power {
				s.Watts = 100 * float64(k)
			}
			if counter {
				s.Joules = 7000 + 50*float64(k*k)
			}
			h.Samples = append(h.Samples, s)
		}
		h.Samples[4].Joules, h.Samples[4].Watts = math.NaN(), math.NaN() // not measured
		return h
	}
	restarted := history(true, true) // from the sample at 6 s
	for k := 6; k <= 10; k++ {
		restarted.Samples[k].Joules -= 8000
	}
	if j := restarted.Joules(); !math.IsNaN(j) {
		t.Errorf("a counter that starts again: %v J", j)
	}
	for _, row := range []struct {
		name      string
		history   History
		from, to  float64
		want      float64
		estimated bool
	}{
		{"counter", history(true, true), 0, 10, 5000, false},
		{"counter, an epoch", history(true, true), 2, 8, 3000, false},
		{"counter, between samples", history(true, true), 8.5, 9.5, 50 * ((81+100)/2. - (64+81)/2.), false},
		{"counter, beyond its end", history(true, true), 9, 11.5, 950, false},
		{"power", history(false, true), 0, 10, 5000, true},
		{"power, between samples", history(false, true), 8.5, 9.5, 900, true},
		{"power, within a hole", history(false, true), 3.5, 4.5, 400, true},
		{"nothing", history(false, false), 0, 10, math.NaN(), true},
		{"long before", history(true, true), -10, 5, math.NaN(), true},
		{"backwards", history(true, true), 5, 4, math.NaN(), false},
		{"no samples", History{}, 0, 1, math.NaN(), true},
		{"a counter that starts again", restarted, 0, 10, 5000, true},
		{"before it starts again", restarted, 0, 5, 1250, false},
		{"after it has started again", restarted, 7, 10, 2550, false},
	} {
		got, estimated := row.history.Energy(after(row.from), after(row.to))
		if !(math.Abs(got-row.want) < 1e-6 || math.IsNaN(got) && math.IsNaN(row.want)) || estimated != row.estimated {
			t.Errorf("%s: %v J, estimated %v; want %v, %v", row.name, got, estimated, row.want, row.estimated)
		}
	}
}

func TestSlowed(t *testing.T) {
	var h History
	for _, why := range []string{"", "the power limit", "the power limit", "its temperature"} {
		h.Samples = append(h.Samples, Sample{Slowed: why})
	}
	if share, why := h.Slowed(); share != .75 || why != "the power limit" {
		t.Errorf("%v by %q", share, why)
	}
	if got := h.Data(time.Time{}).Slowed; got != "the power limit reduced its clock in 75 % of the samples." {
		t.Errorf("%q", got)
	}
	if share, why := (History{}).Slowed(); share != 0 || why != "" {
		t.Errorf("%v by %q", share, why)
	}
}

// The peak of the memory is that of all samples, however long the history is.
func TestPeakOfALongHistory(t *testing.T) {
	s := &Sampler{}
	start := time.Unix(100, 0)
	for i := range maxSamples + 10 {
		sample := unmeasured(start.Add(time.Duration(i) * time.Second))
		sample.MemUsed, sample.ProcessMem = 1<<30, 1<<20
		if i == 501 {
			sample.MemUsed, sample.ProcessMem = 5<<30, 5<<20
		}
		s.add(sample)
	}
	if text := s.History().MIMEBundle()["text/plain"]; text != "Device: all processes: peak memory 5.00 GiB; this process: 0.00488 GiB" {
		t.Errorf("%q", text)
	}
}

// A driver may report neither utilization nor memory nor power, but temperature and clock.
func TestHistoryOfADriverThatReportsNothing(t *testing.T) {
	s := &Sampler{name: "fake"}
	for i := range 3 {
		sample := unmeasured(time.Unix(int64(i), 0))
		sample.Celsius, sample.ClockMHz = 40, 1500
		s.add(sample)
	}
	if text := s.History().MIMEBundle()["text/plain"]; text != "fake: highest temperature 40 °C" {
		t.Errorf("%q", text)
	}
}
