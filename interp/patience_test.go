package interp

import (
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

// For code that runs, the time counts in which the process had a core; for a
// goroutine that is blocked, all time.
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

// A second interrupt counts when it comes a second after the first or later.
func TestInterruption(t *testing.T) {
	t.Parallel()
	cancels := 0
	i := &interruption{cancel: func() { cancels++ }, again: make(chan struct{})}
	start := time.Now()
	insisted := func() bool {
		select {
		case <-i.again:
			return true
		default:
			return false
		}
	}
	for _, row := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {insist / 2, false}, {insist, true}, {2 * insist, true}} {
		i.call(start.Add(row.after))
		if got := insisted(); got != row.want {
			t.Errorf("after %v: got %t", row.after, got)
		}
	}
	if cancels != 1 {
		t.Errorf("%d cancels", cancels)
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		a    activity
		want time.Duration
	}{
		{"code of a cell", activity{ends: true}, giveUpAfter + endingTakes},
		{"compiled code", activity{function: "sync.(*Cond).Wait", waits: true}, giveUpAfter},
		{"a child", activity{function: "os/exec.(*Cmd).Wait", ends: true}, childTakes},
		{"accel", activity{function: ownPackages + "accel.Fit", waits: true}, forever},
		{"the interpreter", activity{function: "github.com/quernlab/quern/interp/rt.Sleep"}, giveUpAfter},
	} {
		if got := patience(row.a); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}
