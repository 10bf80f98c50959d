package stack

import "testing"

func TestIsWaiting(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"goroutine 7 [running]:":                                  false,
		"goroutine 7 [runnable]:":                                 false,
		"goroutine 7 [runnable, locked to thread]:":               false,
		"goroutine 7 [GC assist wait]:":                           false,
		"goroutine 7 [preempted]:":                                false,
		"goroutine 7 [chan receive]:":                             true,
		"goroutine 7 [chan receive (nil chan), 2 minutes]:":       true,
		"goroutine 7 [sync.Cond.Wait, 3 minutes]:":                true,
		"goroutine 7 gp=0xc000002380 m=nil [IO wait]:":            true,
		"goroutine 7 [syscall, locked to thread]:":                true,
		"goroutine 7 [sleep]:\nmain.f[...]()\n\t/a.go:3 +0x1\n":   true,
		"goroutine 7 [running]:\nmain.f[...]()\n\t/a.go:3 +0x1\n": false,
	} {
		if got := IsWaiting(head); got != want {
			t.Errorf("%q: got %t", head, got)
		}
	}
}
