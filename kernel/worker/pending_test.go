package worker

import (
	"testing"
	"time"
)

func TestCouldAnswer(t *testing.T) {
	t.Parallel()
	start := time.Now()
	second := usage{at: start, cpu: 5 * time.Second, known: true}
	for name, row := range map[string]struct {
		after time.Duration
		cpu   time.Duration // since the second interrupt
		state usage
		want  bool
	}{
		"at once":                     {0, 0, usage{known: true}, false},
		"starved":                     {20 * time.Second, 100 * time.Millisecond, usage{known: true}, false},
		"busy with something else":    {1200 * time.Millisecond, 1100 * time.Millisecond, usage{known: true}, true},
		"idle":                        {2 * time.Second, 0, usage{known: true}, false},
		"stopped by a signal":         {time.Second, 0, usage{known: true, stopped: true}, true},
		"just stopped by a signal":    {time.Millisecond, 0, usage{known: true, stopped: true}, false},
		"nothing known":               {20 * time.Second, 0, usage{}, false},
		"nothing known for long":      {30 * time.Second, 0, usage{}, true},
		"starved or idle for longest": {30 * time.Second, 0, usage{known: true}, true},
	} {
		now := row.state
		now.at, now.cpu = start.Add(row.after), second.cpu+row.cpu
		if got := now.couldReact(second); got != row.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
