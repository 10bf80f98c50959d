package control

import (
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

// For running code, the clock counts the CPU time of the process; for a blocked goroutine,
// it counts real time.
func TestClock(t *testing.T) {
	t.Parallel()
	if _, known := ownCPU(); !known {
		testenv.Missing(t, "this system does not say how much CPU time a process received")
	}
	blocked, runs := startClock(), startClock()
	before, _ := ownCPU()
	time.Sleep(20 * time.Millisecond)
	runs.advance(false)
	blocked.advance(true)
	after, _ := ownCPU()
	if runs.spent > after-before+time.Millisecond {
		t.Errorf("%v counted, and the process received %v", runs.spent, after-before)
	}
	if blocked.spent < 20*time.Millisecond {
		t.Errorf("%v counted of a blocked goroutine", blocked.spent)
	}
}
