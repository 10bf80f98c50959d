package control

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/stopflag"
)

// A StopFlag makes lowered code call Goroutines.Check. It is up while a cell is
// interrupted, while code of other cells than the running one has to end, and while a stack
// is large. Goroutines that need not end continue while it is up.
type StopFlag struct {
	up   stopflag.Flag
	deep atomic.Bool // a goroutine may be in an infinite recursion

	mu          sync.Mutex
	interrupted bool // the running cell is
	ending      int  // pieces of code that have to end beside the running cell
}

// Up returns the flag, which only f sets.
func (f *StopFlag) Up() *stopflag.Flag { return &f.up }

// SetInterrupted sets whether the running cell is interrupted.
func (f *StopFlag) SetInterrupted(interrupted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupted = interrupted
	f.update()
}

// Raise raises the flag, until a call of Lower, for code of another cell than the running
// one that has to end.
func (f *StopFlag) Raise() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ending++
	f.update()
}

// Lower ends the effect of one call of Raise.
func (f *StopFlag) Lower() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ending--
	f.update()
}

// Ending returns the number of calls of Raise without a call of Lower.
func (f *StopFlag) Ending() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ending
}

// setDeep sets whether a stack is large.
func (f *StopFlag) setDeep(deep bool) {
	if f.deep.Swap(deep) == deep {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.update()
}

// update sets the flag. The caller holds f.mu.
func (f *StopFlag) update() {
	f.up.Store(f.interrupted || f.ending > 0 || f.deep.Load())
}

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
