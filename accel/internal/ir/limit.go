package ir

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// SetLimit bounds the bytes of values and of the plans' temporaries, 0 for no
// bound, and returns the old one. What would go beyond is refused with an
// *OutOfMemoryError.
func (r *Recorder) SetLimit(bytes int) (old int) {
	old, r.limit = r.limit, bytes
	return old
}

// CheckRoom panics with an *OutOfMemoryError if so many more bytes are beyond the
// limit.
func (r *Recorder) CheckRoom(bytes int) { r.reserve(bytes) }

// reserve panics if so many more bytes are beyond the limit. Values that nobody
// can reach any more are collected before it gives up.
func (r *Recorder) reserve(bytes int) {
	if r.limit <= 0 || r.within(bytes) {
		return
	}
	for range 2 { // what one collection finds may have kept others alive
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

// Collect runs the garbage collector and waits for the clean-ups that it found, for
// a second at most, in which one that waits for something may not have ended.
func Collect() { collect(time.Second) }

// collect is Collect with another limit, and tells whether it was kept.
func collect(limit time.Duration) bool {
	done := make(chan struct{})
	// What is so large has memory of its own, and is not kept by a small neighbour.
	runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, done)
	runtime.GC()
	defer runtime.Gosched()
	end := time.After(limit)
	select {
	case <-done:
	case <-end:
		return false
	}
	// Clean-ups run in no order, on several goroutines, and this one may have been
	// among the first. The runtime counts them; nothing tells when it is done.
	for pause := 10 * time.Microsecond; cleanupsPending(); pause *= 2 {
		select {
		case <-time.After(pause):
		case <-end:
			return false
		}
	}
	return true
}

// cleanupsPending tells whether there are clean-ups that have not run to their end.
func cleanupsPending() bool {
	counts := []metrics.Sample{
		{Name: "/gc/cleanups/queued:cleanups"},
		{Name: "/gc/cleanups/executed:cleanups"},
	}
	metrics.Read(counts)
	return counts[1].Value.Uint64() < counts[0].Value.Uint64()
}
