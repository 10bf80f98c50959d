package stopflag

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Flag is a flag that any goroutine may set and check. Checks let other goroutines run.
type Flag struct {
	up     atomic.Bool
	checks int       // until the next look at the clock
	waited time.Time // when a check waited last
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

// Load reports whether the flag is up.
func (f *Flag) Load() bool {
	if f.checks--; f.checks < 0 {
		f.look()
	}
	return f.up.Load()
}

// Store sets the flag.
func (f *Flag) Store(up bool) { f.up.Store(up) }

// look waits if the last wait is long ago. While no goroutine runs, the page delivers its messages.
func (f *Flag) look() {
	f.checks = checksPerLook
	if time.Since(f.waited) < every {
		return
	}
	time.Sleep(time.Millisecond)
	// What the page has sent passes several goroutines before it has an effect.
	for range hops {
		runtime.Gosched()
	}
	f.waited = time.Now()
}
