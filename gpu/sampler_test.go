package gpu

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a device whose samples are numbered.
type fake struct {
	count  int
	closed bool
	stuck  chan struct{} // if not nil, Sample waits for it
}

func (f *fake) Name() string { return "fake" }
func (f *fake) Close() error { f.closed = true; return nil }
func (f *fake) Sample() Sample {
	if f.stuck != nil {
		<-f.stuck
	}
	f.count++
	s := unmeasured(time.Now())
	s.Busy = float64(f.count)
	return s
}

func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := Start(t.Context(), f, time.Second)
		time.Sleep(3500 * time.Millisecond) // of the synctest clock
		if got := len(s.History().Samples); got != 4 {
			t.Errorf("after 3.5 s: want 4 samples, got %d", got)
		}
		s.Stop()
		s.Stop()
		h := s.History()
		if len(h.Samples) != 5 || h.Name != "fake" || !f.closed {
			t.Errorf("after Stop: %d samples, name %q, closed %v", len(h.Samples), h.Name, f.closed)
		}
		h.Samples[0].Busy = -1
		if s.History().Samples[0].Busy != 1 {
			t.Error("the history is not a copy")
		}
	})
}

func TestSamplerEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := &fake{}
		s := Start(ctx, f, time.Nanosecond) // raised to 100 ms
		time.Sleep(time.Second)
		cancel()
		<-s.done
		if got := len(s.History().Samples); got < 10 || got > 12 || !f.closed {
			t.Errorf("%d samples in a second, closed %v", got, f.closed)
		}
	})
}

func TestStopGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{stuck: make(chan struct{})}
		s := Start(t.Context(), f, time.Second)
		start := time.Now()
		s.Stop()
		if waited := time.Since(start); waited != stopTimeout {
			t.Errorf("Stop waited %v for a device that does not answer", waited)
		}
		close(f.stuck)
		<-s.done
	})
}

func TestLongHistoryGetsCoarser(t *testing.T) {
	s := &Sampler{}
	for i := range maxSamples + 1 {
		v := unmeasured(time.Unix(int64(i), 0))
		v.Busy = float64(i % 2)
		v.Joules = float64(i)
		s.add(v)
	}
	h := s.History()
	if len(h.Samples) != maxSamples/2+1 {
		t.Fatalf("%d samples", len(h.Samples))
	}
	if first := h.Samples[0]; first.Busy != .5 || first.Joules != 1 || !math.IsNaN(first.Watts) {
		t.Errorf("first sample %+v", first)
	}
	if got := h.Joules(); got != maxSamples-1 {
		t.Errorf("energy %v", got)
	}
}

func TestHistoryJoules(t *testing.T) {
	var h History
	for i := range 5 {
		s := unmeasured(time.Unix(int64(i), 0))
		if i > 0 {
			s.Joules = float64(10 * i)
		}
		h.Samples = append(h.Samples, s)
	}
	if j := h.Joules(); j != 30 {
		t.Errorf("%v J", j)
	}
	if j := (History{}).Joules(); !math.IsNaN(j) {
		t.Errorf("energy of an empty history %v", j)
	}
}
