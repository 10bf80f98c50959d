package trace

import "time"

// Ranges reports what happens to an external profiler, as nested named ranges such as
// those of NVTX.
type Ranges struct {
	// Begin begins a range. Its result ends the range.
	Begin func(name string) (end func())
	// Names returns the names of the ranges around a step of a list, the outermost
	// first; "" means no range.
	Names func(c *Collector, f *Flush, step int) [3]string
}

// StartRanges activates a collector that stores nothing and reports ranges. ok is false if
// a collector is already active.
func StartRanges(r Ranges) (c *Collector, ok bool) {
	c = &Collector{start: time.Now(), names: map[any]string{}, seen: map[any]bool{}, ranges: &r}
	return c, active.CompareAndSwap(nil, c)
}

// Ranges returns the argument of [StartRanges], or nil if the collector stores a profile.
func (c *Collector) Ranges() *Ranges { return c.ranges }

// Profile returns the active collector if it stores a profile, or nil.
func Profile() *Collector {
	if c := active.Load(); c != nil && c.ranges == nil {
		return c
	}
	return nil
}

// Range begins a range if the active collector reports ranges. end ends the range.
func Range(name func() string) (end func()) {
	c := active.Load()
	if c == nil || c.ranges == nil {
		return func() {}
	}
	return c.ranges.Begin(name())
}

// Steps reports the ranges of a list while it runs. The caller calls before in front of
// each step and end after the last one. A range that consecutive steps share stays open,
// except the innermost, of which each step has its own.
func (c *Collector) Steps(f *Flush) (before func(step int), end func()) {
	var names [3]string
	var open [3]func()
	closeFrom := func(depth int) {
		for k := len(open) - 1; k >= depth; k-- {
			if open[k] != nil {
				open[k]()
			}
			names[k], open[k] = "", nil
		}
	}
	before = func(step int) {
		next := c.ranges.Names(c, f, step)
		same := 0
		for same < len(names)-1 && names[same] == next[same] {
			same++
		}
		closeFrom(same)
		for k := same; k < len(next); k++ {
			if names[k] = next[k]; next[k] != "" {
				open[k] = c.ranges.Begin(next[k])
			}
		}
	}
	return before, func() { closeFrom(0) }
}
