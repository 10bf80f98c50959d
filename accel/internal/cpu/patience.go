package cpu

import (
	"runtime"
	"time"
)

// patience decides how long a worker spins before it sleeps, and spins. The system needs some
// tens of microseconds to wake a sleeping thread, which is a tenth of a step of a small model.
// So a worker spins longer if its last wait was short, as between the steps of such a training.
// It does not if that wait was long, as in a notebook whose user is reading, or if the system
// has lately given its core to something else.
type patience struct {
	began    time.Time // of the wait
	long     bool      // the last wait was longer than mostSpin
	politely int       // waits for which it spins briefly, since something else needs the core
}

const (
	leastSpin = 50 * time.Microsecond
	mostSpin  = 500 * time.Microsecond
	// coreTaken is the time between two looks at the clock after which something else has run
	// on the core.
	coreTaken  = 100 * time.Microsecond
	politeness = 200 // waits
	yieldAfter = 50 * time.Microsecond
	// leastPause is about the shortest time of a pause. It limits a spin where the clock is coarse.
	leastPause = 5 * time.Nanosecond
)

// limit returns how long the next wait spins.
func (w *patience) limit() time.Duration {
	if w.long || w.politely > 0 {
		return leastSpin
	}
	return mostSpin
}

// waited records how long a wait took, and whether something else ran on the core while it spun.
func (w *patience) waited(d time.Duration, taken bool) {
	w.long = d > mostSpin
	switch {
	case taken:
		w.politely = politeness
	case w.politely > 0:
		w.politely--
	}
}

// spin waits until done returns true, and returns false if it should sleep until then and call
// slept. It lets other goroutines run now and then.
func (w *patience) spin(done func() bool) bool {
	if done() {
		return true
	}
	w.began = time.Now()
	last, yielded, limit, taken := w.began, w.began, w.limit(), false
	for rounds := time.Duration(0); ; rounds += 32 {
		for range 32 {
			if done() {
				w.waited(last.Sub(w.began), taken)
				return true
			}
			pause(1)
		}
		now := time.Now()
		taken = taken || now.Sub(last) > coreTaken
		last = now
		if taken || now.Sub(w.began) > limit || rounds*leastPause > limit {
			w.waited(0, taken)
			return false
		}
		if now.Sub(yielded) > yieldAfter {
			yielded = now
			runtime.Gosched()
		}
	}
}

// slept ends a wait that spin did not.
func (w *patience) slept() { w.long = time.Since(w.began) > mostSpin }
