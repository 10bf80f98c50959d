package gpu

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestHost(t *testing.T) {
	h := Host()
	defer h.Close()
	if !strings.Contains(h.Name(), "core") {
		t.Errorf("name %q", h.Name())
	}
	// Work for longer than the resolution of the system's counters.
	p := h.(*host)
	for began := p.last.process; p.read().process < began+0.1; {
	}
	s := h.Sample()
	if !(s.Busy >= 0 && s.Busy <= 100) {
		t.Errorf("busy %v", s.Busy)
	}
	if !(s.ProcessBusy > 0 && s.ProcessBusy <= 100) {
		t.Errorf("busy with this process %v, though it worked all the time", s.ProcessBusy)
	}
	if !(s.MemUsed > 0 && s.MemUsed <= s.MemTotal) {
		t.Errorf("memory %v of %v", s.MemUsed, s.MemTotal)
	}
	if !(s.ProcessMem > 1<<20 && s.ProcessMem <= s.MemTotal) {
		t.Errorf("memory of this process %v", s.ProcessMem)
	}
	if !math.IsNaN(s.Watts) || !math.IsNaN(s.Joules) {
		t.Errorf("power %v W, %v J, which nobody measured", s.Watts, s.Joules)
	}
}

// Nothing is measured in an interval too short for the counters.
func TestHostSampledTooSoon(t *testing.T) {
	h := Host().(*host)
	h.last.at = time.Now().Add(time.Hour)
	if s := h.Sample(); !math.IsNaN(s.Busy) || !math.IsNaN(s.ProcessBusy) || math.IsNaN(s.ProcessMem) {
		t.Errorf("sample %+v", s)
	}
}
