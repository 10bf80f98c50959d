// Package collector decides how often the garbage collector runs in a process that executes cells.
//
// A session needs about 6 MB for its types and symbols. Go's default, a collection when the heap has doubled, would scan them after each 6 MB
// that a cell allocates, and that takes as long as many cells. So a collection follows after a fixed amount, unless the live heap is larger:
// then, as usual, after the size of the live heap.
package collector

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Spare is how many bytes the process allocates, at least, from one collection to the next.
const Spare = 32 << 20

// standard is Go's default of GOGC.
const standard = 100

// Run sets the percentage of the garbage collector after each collection from now on, until something else sets it. It does nothing if GOGC
// differs from the default. The memory limit of package runtime still holds.
func Run() {
	percent := debug.SetGCPercent(standard)
	if percent != standard {
		debug.SetGCPercent(percent)
		return
	}
	(&control{percent: standard}).run()
}

// control is the state between two collections.
type control struct{ percent int }

// run adjusts the percentage now and after each collection.
func (c *control) run() {
	if c.adjust() {
		runtime.AddCleanup(new(sentinel), (*control).run, c)
	}
}

// adjust sets the percentage for the current live heap. It reports false, and changes nothing, if code of a cell has set it.
func (c *control) adjust() bool {
	next := percentFor(live())
	if old := debug.SetGCPercent(next); old != c.percent {
		debug.SetGCPercent(old)
		return false
	}
	c.percent = next
	return true
}

// sentinel is what the next collection finds unreachable. It contains a pointer, so that it does not share memory with other small values.
type sentinel struct{ _ *sentinel }

// percentFor returns the percentage with which a collection follows after Spare bytes, or more if the live heap is larger.
func percentFor(live uint64) int {
	return int(max(standard, Spare*standard/max(live, 1<<20)))
}

// live returns the size of what the last collection has not freed, in bytes.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
