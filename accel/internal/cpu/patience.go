package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// patience is how long the workers of a pool spin before they sleep. The system needs some tens of microseconds
// to wake a sleeping thread, which is a tenth of a step of a small model. So a helper spins longer if its last
// wait was short, as between the steps of such a training. It does not if that wait was long, as in a notebook whose
// user is reading, or if the system has lately given a core to something else: then a thread that sleeps leaves its
// core to the one that it waits for.
type patience struct {
	start time.Time
	until atomic.Int64 // how long after start the workers spin briefly, since something else needs a core
}

const (
	briefSpin = 50 * time.Microsecond
	longSpin  = 500 * time.Microsecond
	// coreTaken is the time between two looks at the clock after which something else has run
	// on the core, politeness how long the workers spin briefly after that.
	coreTaken  = 300 * time.Microsecond
	politeness = 500 * time.Millisecond
	yieldAfter = 50 * time.Microsecond
	// leastPause is about the shortest time of a pause. It limits a spin where the clock is coarse.
	leastPause = 5 * time.Nanosecond
)

// limit returns how long a helper spins that begins to wait at a time since start, after a wait that took last.
func (p *patience) limit(now, last time.Duration) time.Duration {
	if last > longSpin || now < time.Duration(p.until.Load()) {
		return briefSpin
	}
	return longSpin
}

// taken records that something else has run on a core.
func (p *patience) taken(now time.Duration) { p.until.Store(int64(now + politeness)) }

// spin waits until done returns true, but not longer than limit: then it returns false, and the worker should sleep. It
// lets other goroutines run now and then.
func (p *patience) spin(limit time.Duration, done func() bool) bool {
	if done() {
		return true
	}
	began := time.Since(p.start)
	looked, yielded := began, began
	for rounds := time.Duration(0); ; rounds += 32 {
		for range 32 {
			if done() {
				return true
			}
			pause(1)
		}
		now := time.Since(p.start)
		if now-looked > coreTaken {
			p.taken(now)
			return done()
		}
		looked = now
		if now-began > limit || rounds*leastPause > limit {
			return done()
		}
		if now-yielded > yieldAfter {
			runtime.Gosched()
			yielded = time.Since(p.start)
			looked = yielded // other goroutines of this program do not count
		}
	}
}
