package ir

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// A list runs when its results are read, and each optimizer's step runs it too. A program that
// reads nothing would record without end, so Trim also runs a list that has very many ops, that
// needs more memory than the device has left, or that belongs to no training step and holds much
// that may be garbage.
//
// It does not run a list in the middle of a training step that may fit. What crosses the end of
// a list needs memory of its own, the activations of the forward pass for instance, while the
// temporaries of one list share theirs; and a GPU gets one graph for each list. In the middle of a
// step, most activations look as if each needed memory. The planner needs less: it fuses some of
// them away, so that the list may take a third of that in the end.
const (
	// reservedShare is the fraction of a GPU's memory that values and temporaries may not take.
	// It is for the driver's context, code, and libraries.
	reservedShare = 16
	// heldShare is the fraction of the memory that results may take which only handles hold. The
	// garbage collector frees them if the program has dropped the handles, but not before the
	// list has run. In a training step they are few: gradients flow into activations, or into
	// what is computed from them.
	heldShare = 16
	// trainingShare is how many times the memory the activations of a training step may seem to
	// take before it runs. If they really need more than there is, Flush runs the list in parts.
	trainingShare = 4
	// unknownMemory is assumed of a device that does not say how much memory it has.
	unknownMemory = 1 << 30

	// maxNodes is the maximum number of ops. A step of an LSTM over 256 time steps has 70,000.
	maxNodes = 1 << 17
	// maxWithoutGradients is that of a list into which no gradients flow. An optimizer's step has
	// about 20 ops for each parameter.
	maxWithoutGradients = 1 << 14
)

// Sized is implemented by a device with memory of its own.
type Sized interface {
	Memory() int // bytes
}

// memory returns how many bytes values and temporaries may take.
func (r *Recorder) memory() int {
	if r.limit > 0 {
		return r.limit
	}
	if d, ok := r.device.(Sized); ok && d.Memory() > 0 {
		return d.Memory() - d.Memory()/reservedShare
	}
	return unknownMemory
}

// Trim runs the list if it has grown past its limits. It is called between ops, when every
// value that is still needed has a holder.
func (r *Recorder) Trim() {
	training := r.gradients || len(r.leaves) > 0
	if n := len(r.nodes); n >= maxNodes || n >= maxWithoutGradients && !training {
		r.Flush()
		return
	}
	if r.pending == 0 || r.pending < r.checkedPending {
		return
	}
	all := r.memory()
	most, mostHeld := all-int(r.live.n.Load()), all/heldShare
	if training {
		most, mostHeld = trainingShare*all, math.MaxInt
	}
	room := min(most, mostHeld) // bytes that may be recorded before the next check
	if r.pending >= room {
		need, held := r.needed()
		if need >= most || held >= mostHeld {
			r.Flush()
			return
		}
		room = r.pending + min(most-need, mostHeld-held)
	}
	// A check takes time for each op, so the next one comes after a part of the memory at least.
	r.checkedPending = max(room, r.pending+all/(4*heldShare))
}

// needed estimates how many bytes the results and temporaries would take if the list ran now,
// and how many of them only handles hold. Elementwise ops between others count as parts of fused
// kernels.
func (r *Recorder) needed() (need, held int) {
	overwrites := map[*Value]bool{} // values that an update writes over their predecessors
	for _, a := range r.assigns {
		overwrites[a.new] = canDonate(a)
	}
	own := map[*Value]bool{} // gradients
	for _, l := range r.leaves {
		own[l.Grad] = true
	}
	last := make([]int, len(r.nodes)) // the last node that reads each result
	temporary := make([]bool, len(r.nodes))
	viewed := make([]bool, len(r.nodes)) // a view of it is kept
	for i := len(r.nodes) - 1; i >= 0; i-- {
		v := r.nodes[i]
		class, kept := v.op.Class(v.in), keeps(v) || viewed[i]
		bytes := v.Len() * v.dtype.Size()
		switch {
		case class == View:
			if x := v.in[0]; kept && x.epoch == r.epoch && x.index >= 0 {
				viewed[x.index] = true
			}
		case !kept:
			temporary[i] = class == Whole
		case !overwrites[v]:
			need += bytes
			if v.tape == 0 && !own[v] {
				held += bytes
			}
		}
		read := max(last[i], i) // a view and a part of a fused kernel read their inputs when they are read
		if class == Whole || class == Elementwise && kept {
			read = i
		}
		for _, x := range v.in {
			if x.epoch == r.epoch && x.index >= 0 {
				last[x.index] = max(last[x.index], read)
			}
		}
	}
	change := make([]int, len(r.nodes)+1)
	for i, v := range r.nodes {
		if temporary[i] {
			bytes := v.Len() * v.dtype.Size()
			change[i] += bytes
			change[max(last[i], i)+1] -= bytes
		}
	}
	most, now := 0, 0
	for _, c := range change {
		now += c
		most = max(most, now)
	}
	return need + most, held
}

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

// MemoryUse is the memory of values.
type MemoryUse struct {
	Allocated int // bytes of values that are reachable
	// Reserved is the bytes that the device holds. A GPU keeps freed blocks for later values, and the temporaries of
	// plans; on the CPU these are the values that are reachable or not collected yet, and the temporaries.
	Reserved int
	Peak     int // the most bytes of values and temporaries at once; values that are not collected yet count
	Limit    int // bytes that may be allocated, 0 if unknown
}

// Reserving is implemented by a device that keeps freed memory.
type Reserving interface {
	// Reserved returns the bytes that are allocated by the driver.
	Reserved() int
}

// MemoryUse collects unreachable values and returns the memory of the others.
func (r *Recorder) MemoryUse() MemoryUse {
	s := r.Stats()
	m := MemoryUse{Reserved: s.LiveBytes + s.PlanBytes, Peak: s.PeakBytes, Limit: r.limit}
	if d, ok := r.device.(Reserving); ok {
		m.Reserved = d.Reserved()
	}
	if d, ok := r.device.(Sized); ok && m.Limit == 0 {
		m.Limit = d.Memory()
	}
	const most = 4 // values freed by one collection may have kept others alive
	for range most {
		before := r.live.n.Load()
		if Collect(); r.live.n.Load() == before {
			break
		}
	}
	m.Allocated = int(r.live.n.Load())
	return m
}
