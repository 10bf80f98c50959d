package cpu

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	const step = 100 * time.Microsecond
	for _, test := range []struct {
		name             string
		taken, now, last time.Duration // taken is 0 if nothing else has run
		want             time.Duration
	}{
		{"between small steps", 0, time.Second, step, longSpin},
		{"after a cell", 0, time.Second, time.Minute, briefSpin},
		{"when something else has just run", time.Second, time.Second + step, step, briefSpin},
		{"much later", time.Second, time.Second + politeness, step, longSpin},
	} {
		var p patience
		if test.taken > 0 {
			p.taken(test.taken)
		}
		if got := p.limit(test.now, test.last); got != test.want {
			t.Errorf("%s: it spins for %v, want %v", test.name, got, test.want)
		}
	}
}

func TestSpinReturnsWhenDone(t *testing.T) {
	p := patience{start: time.Now()}
	left := 100
	p.spin(time.Minute, func() bool { left--; return left <= 0 })
	if left < 0 {
		t.Errorf("it asked %d times after the end", -left)
	}
	if p.spin(briefSpin, func() bool { return false }) {
		t.Error("a wait without an end returned true")
	}
}
