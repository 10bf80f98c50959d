package control

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Infinite recursion.
//
// The Go runtime ends a process when a stack is full, and the variables of the session are
// lost with it. So the size of all stacks is watched while a cell runs. When they are
// large the stop flag goes up, and the next function entry on the deep stack ends that
// goroutine. Calls cost nothing extra.

const (
	// watchInterval is how often the stacks are measured. The fastest recursion fills a
	// few MB in that time.
	watchInterval = 20 * time.Millisecond
	// largeStacks is how many bytes all stacks may hold. A stack doubles when it is full:
	// one of this size has had at least 60 000 nested calls of lowered code, and at most
	// 250 000.
	largeStacks = 256 << 20
	// usualStack is how many more bytes each goroutine may have.
	usualStack = 64 << 10
)

// WatchStacks raises the stop flag while stacks are large, until done is closed.
func (f *StopFlag) WatchStacks(done <-chan struct{}) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	defer f.setDeep(false)
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			f.setDeep(stacksInUse() > largeStacks+uint64(runtime.NumGoroutine())*usualStack)
		}
	}
}

func stacksInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
