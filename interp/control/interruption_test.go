package control

import (
	"testing"
	"time"
)

// A second interrupt counts when it comes a second after the first or later.
func TestInterruption(t *testing.T) {
	t.Parallel()
	cancels := 0
	i := NewInterruption(func() { cancels++ })
	start := time.Now()
	insisted := func() bool {
		select {
		case <-i.Again():
			return true
		default:
			return false
		}
	}
	for _, row := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {insist / 2, false}, {insist, true}, {2 * insist, true}} {
		i.Call(start.Add(row.after))
		if got := insisted(); got != row.want {
			t.Errorf("after %v: got %t", row.after, got)
		}
	}
	if cancels != 1 {
		t.Errorf("%d cancels", cancels)
	}
}
