package ir

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// SetLimit sets the maximum number of bytes of values and plans' temporaries, 0 for no
// limit, and returns the old limit. Allocations beyond it fail with an *OutOfMemoryError.
func (r *Recorder) SetLimit(bytes int) (old int) {
	old, r.limit = r.limit, bytes
	return old
}

// CheckLimit panics with an *OutOfMemoryError if that many more bytes would exceed the
// limit.
func (r *Recorder) CheckLimit(bytes int) { r.reserve(bytes) }

// reserve panics if that many more bytes would exceed the limit. It collects unreachable
// values before it gives up.
func (r *Recorder) reserve(bytes int) {
	if r.limit <= 0 || r.within(bytes) {
		return
	}
	for range 2 { // values freed by one collection may have kept others alive
		Collect()
		if r.within(bytes) {
			return
		}
	}
	free := max(0, r.limit-int(r.live.n.Load())-r.stats.PlanBytes)
	panic(&OutOfMemoryError{Device: r.device.Name(), Need: bytes, Free: free})
}

func (r *Recorder) within(bytes int) bool {
	return int(r.live.n.Load())+r.stats.PlanBytes+bytes <= r.limit
}

// Collect runs the garbage collector and waits for its clean-ups, for at most a second: a
// clean-up that blocks may not have finished then.
func Collect() { collect(time.Second) }

// collect is Collect with another limit. It reports whether all clean-ups finished.
func collect(limit time.Duration) bool {
	done := make(chan struct{})
	// An object of this size has its own span, so no small neighbor keeps it alive.
	runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, done)
	runtime.GC()
	defer runtime.Gosched()
	end := time.After(limit)
	select {
	case <-done:
	case <-end:
		return false
	}
	// Clean-ups run in any order, on several goroutines, and this one may have been among
	// the first. The runtime counts them but does not signal when they are done.
	for pause := 10 * time.Microsecond; cleanupsPending(); pause *= 2 {
		select {
		case <-time.After(pause):
		case <-end:
			return false
		}
	}
	return true
}

// cleanupsPending reports whether there are unfinished clean-ups.
func cleanupsPending() bool {
	counts := []metrics.Sample{
		{Name: "/gc/cleanups/queued:cleanups"},
		{Name: "/gc/cleanups/executed:cleanups"},
	}
	metrics.Read(counts)
	return counts[1].Value.Uint64() < counts[0].Value.Uint64()
}
