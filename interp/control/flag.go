package control

import (
	"sync"
	"sync/atomic"

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
