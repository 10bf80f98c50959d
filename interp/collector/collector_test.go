package collector

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 3200},
		{1 << 20, 3200},
		{8 << 20, 400},
		{31 << 20, 103},
		{32 << 20, 100},
		{1 << 40, 100},
	} {
		if have := percentFor(c.live); have != c.want {
			t.Errorf("percentFor(%d) = %d, want %d", c.live, have, c.want)
		}
	}
}

// kept is reachable during a test.
var kept []byte

func TestAdjust(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(standard))
	runtime.GC()
	c := &control{percent: standard}
	if !c.adjust() || c.percent <= standard {
		t.Errorf("the percentage of a small heap is %d", c.percent)
	}
	kept = make([]byte, 2*Spare)
	runtime.GC()
	if !c.adjust() || c.percent != standard {
		t.Errorf("the percentage of a large heap is %d, want %d", c.percent, standard)
	}
	kept = nil
}

func TestPercentageOfCell(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(standard))
	c := &control{percent: standard}
	c.adjust()
	debug.SetGCPercent(77)
	if c.adjust() {
		t.Error("the percentage of a cell is replaced")
	}
	if have := debug.SetGCPercent(standard); have != 77 {
		t.Errorf("the percentage is %d, want 77, which a cell has set", have)
	}
}
