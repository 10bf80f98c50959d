package cpu

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	const step = 100 * time.Microsecond
	for _, test := range []struct {
		name  string
		waits []time.Duration // negative if something else ran on the core
		want  time.Duration
	}{
		{"the first wait", nil, mostSpin},
		{"between small steps", []time.Duration{step, step}, mostSpin},
		{"after a cell", []time.Duration{step, time.Second}, leastSpin},
		{"when the steps go on", []time.Duration{time.Second, step}, mostSpin},
		{"on a busy machine", []time.Duration{step, -step, step}, leastSpin},
		{"on a busy machine, much later", append([]time.Duration{-step}, make([]time.Duration, politeness)...), mostSpin},
	} {
		var w patience
		for _, d := range test.waits {
			w.waited(max(d, -d), d < 0)
		}
		if got := w.limit(); got != test.want {
			t.Errorf("%s: it spins for %v, want %v", test.name, got, test.want)
		}
	}
}

func TestSpinReturnsWhenDone(t *testing.T) {
	var w patience
	left := 100
	if !w.spin(func() bool { left--; return left == 0 }) && left > 0 {
		w.slept()
	}
	if left < 0 {
		t.Errorf("it asked %d times after the end", -left)
	}
	if w.spin(func() bool { return false }) {
		t.Error("a wait without an end returned true")
	}
}
