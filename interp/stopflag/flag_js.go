package stopflag

import (
	"runtime"
	"time"
)

// Flag is a flag that any goroutine may set and check. Checks let other goroutines run. Since there is only one thread, its
// fields need no atomic access, which would be calls; most checks only count.
type Flag struct {
	up      bool
	checks  int       // until the next look at the clock; 0 while the flag is up
	whileUp int       // checks since the last look at the clock, while the flag is up
	waited  time.Time // when a check waited last
}

// Cooperative reports whether checks of the flag let other goroutines run.
const Cooperative = true

const (
	// every is how long cells run between two waits: an interrupt is noticed after it.
	every = 50 * time.Millisecond
	// checksPerLook is the number of checks between two looks at the clock, which cost a call of JavaScript.
	checksPerLook = 5000
	// hops is more than the number of goroutines that an interrupt passes.
	hops = 50
)

// MayBeUp is a quick check: it reports whether the flag may be up, which Load says, or a check should wait. Unlike Load, it is
// inlined in long functions.
func MayBeUp(f *Flag) bool {
	f.checks--
	return f.checks < 0
}

// Load reports whether the flag is up.
func (f *Flag) Load() bool { return MayBeUp(f) && f.look() }

// Store sets the flag.
func (f *Flag) Store(up bool) {
	f.up = up
	if up {
		f.checks = 0
	}
}

// look waits if the last wait is long ago, and reports whether the flag is up. While no goroutine runs, the page delivers
// its messages. Code may go on while the flag is up, when that is meant for other code.
func (f *Flag) look() bool {
	if !f.up {
		f.checks = checksPerLook
	} else {
		f.checks = 0
		if f.whileUp++; f.whileUp < checksPerLook {
			return true
		}
		f.whileUp = 0
	}
	if time.Since(f.waited) < every {
		return f.up
	}
	time.Sleep(time.Millisecond)
	// What the page has sent passes several goroutines before it has an effect.
	for range hops {
		runtime.Gosched()
	}
	f.waited = time.Now()
	return f.up
}
