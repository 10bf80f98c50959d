package control

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		a    Activity
		want time.Duration
	}{
		{"code of a cell", Activity{ends: true}, stopTime + deferTime},
		{"compiled code", Activity{function: "sync.(*Cond).Wait", waits: true}, stopTime},
		{"a child", Activity{function: "os/exec.(*Cmd).Wait", ends: true}, childTime},
		{"accel", Activity{function: OwnPackages + "accel.Fit", waits: true}, forever},
		{"the interpreter", Activity{function: "github.com/quernlab/quern/interp/rt.Sleep"}, stopTime},
	} {
		if got := DefaultPatience(row.a); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}
