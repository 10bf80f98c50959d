package trace

import "time"

// Ranges are reported to a profiler while they happen.
type Ranges struct {
	// Begin begins a range; what it returns ends it.
	Begin func(name string) (end func())
	// Names are what the ranges around a step of a list are called, the outermost
	// first; "" for none.
	Names func(c *Collector, f *Flush, step int) [3]string
}

// StartRanges makes a collector the active one that keeps nothing and tells ranges. It
// is false where there is a collector already.
func StartRanges(r Ranges) (c *Collector, ok bool) {
	c = &Collector{start: time.Now(), names: map[any]string{}, met: map[any]bool{}, ranges: &r}
	return c, active.CompareAndSwap(nil, c)
}

// Ranges returns those that the collector tells; nil of one that keeps a profile.
func (c *Collector) Ranges() *Ranges { return c.ranges }

// Profile returns the collector of the profile that is being taken, nil without one.
func Profile() *Collector {
	if c := active.Load(); c != nil && c.ranges == nil {
		return c
	}
	return nil
}

// Range begins a range if somebody wants to know of it; what is returned ends it.
func Range(name func() string) (end func()) {
	c := active.Load()
	if c == nil || c.ranges == nil {
		return func() {}
	}
	return c.ranges.Begin(name())
}

// Steps tells the ranges of a list while it runs: before is called in front of each
// step, and end behind the last. A range that two steps share goes on.
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
		for same < len(names)-1 && names[same] == next[same] { // the innermost is of this step alone
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
