package ir

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// Stats are the counters of the recorder.
type Stats struct {
	Flushes   int // lists run
	PlansMade int // flushes with a new structure
	PlanHits  int // flushes that reused a plan
	Syncs     int // times the host waited for a result
	Ops       int // ops recorded in all flushed lists
	Steps     int // steps (fused kernels, matmuls, …) after fusion
	LiveBytes int // bytes of values that are reachable, as of the last garbage collection
	PeakBytes int // maximum of LiveBytes plus the temporaries of the running plan
	PlanBytes int // memory for the plans' temporaries

	Device DeviceCounts // calls to a GPU
}

// liveBytes is decremented by clean-ups, which run on their own goroutine.
type liveBytes struct{ n atomic.Int64 }

// Stats returns the counts since the last ResetStats.
func (r *Recorder) Stats() Stats {
	s := r.stats
	s.LiveBytes = int(r.live.n.Load())
	s.PeakBytes = max(s.PeakBytes, s.LiveBytes)
	s.Device = r.deviceCounts().Minus(r.before)
	return s
}

// ResetStats sets the counts to zero, but not the bytes.
func (r *Recorder) ResetStats() {
	r.stats = Stats{PlanBytes: r.stats.PlanBytes}
	r.before = r.deviceCounts()
}

type tracked struct {
	live  *liveBytes
	bytes int64
}

// alloc allocates storage on the device and counts it until it is unreachable.
func (r *Recorder) alloc(bytes int) *Buffer {
	r.reserve(bytes)
	s, err := r.device.Alloc(bytes)
	if err != nil {
		panic(r.failed(err))
	}
	b := &Buffer{Storage: s, device: r.device}
	r.live.n.Add(int64(bytes))
	b.tracked = tracked{r.live, int64(bytes)}
	b.cleanup = runtime.AddCleanup(b, func(t tracked) { t.live.n.Add(-t.bytes) }, b.tracked)
	r.notePeak()
	return b
}

// notePeak checks for a new peak of memory.
func (r *Recorder) notePeak() {
	now := int(r.live.n.Load()) + r.temporaries
	r.stats.PeakBytes = max(r.stats.PeakBytes, now)
	for _, m := range r.meters {
		m.note(now, max(*m.bytes/16, 1<<20)<<m.misses, r.taken)
	}
}

// noteNew does so for a plan that has not run before: at the end of its run, that many more
// bytes will be allocated. A known plan hardly ever has a new peak.
func (r *Recorder) noteNew(outputs int) {
	now := int(r.live.n.Load()) + r.temporaries + outputs
	for _, m := range r.meters {
		margin := 0
		if m.misses > 0 {
			margin = (1 << 20) << m.misses
		}
		m.note(now, margin, func() int { return r.taken() + outputs })
	}
}

// taken returns the memory of reachable values and temporaries.
func (r *Recorder) taken() int {
	Collect()
	return int(r.live.n.Load()) + r.temporaries
}

// meter records the peak memory of values and temporaries.
type meter struct {
	bytes  *int
	misses int // number of new peaks that turned out to be unreachable values
}

// note records a new peak that exceeds the old one by a margin, if it is still a peak after
// a collection of unreachable values. Each false peak widens the margin, so that a long
// training does not collect forever.
func (m *meter) note(now, margin int, taken func() int) {
	if now <= *m.bytes+margin {
		return
	}
	if now = taken(); now > *m.bytes {
		*m.bytes = now
	} else if m.misses < 16 {
		m.misses++
	}
}

// Meter records the peak memory of values and temporaries in bytes until stop is called.
func (r *Recorder) Meter(bytes *int) (stop func()) {
	m := &meter{bytes: bytes}
	r.meters, *bytes = append(r.meters, m), int(r.live.n.Load())
	return func() { r.meters = slices.DeleteFunc(r.meters, func(x *meter) bool { return x == m }) }
}

// recycle returns storage to the device that no value can see any more.
func (r *Recorder) recycle(b *Buffer) {
	b.cleanup.Stop()
	r.live.n.Add(-b.tracked.bytes)
	b.device.Free(b.Storage)
	b.Storage = nil
}

// DeviceCounts counts the calls to an asynchronous device. All counts of the CPU are 0.
type DeviceCounts struct {
	Launches  int // kernels and graphs that the host launched
	Kernels   int // kernels that ran, including those of graphs
	Copies    int // between host and device, and on the device
	ToDevice  int // bytes copied
	ToHost    int // bytes copied
	Waits     int // times the host waited for the device
	Allocs    int // allocations by the driver
	Frees     int // frees by the driver
	Graphs    int // graphs created
	Revisions int // graph kernels updated with other addresses
}

// Counting is implemented by a device that counts calls.
type Counting interface {
	// DeviceCounts returns the counts since the device was opened.
	DeviceCounts() DeviceCounts
}

// Waiting is implemented by an asynchronous device.
type Waiting interface {
	// Wait waits until all work is done and returns its error.
	Wait() error
}

// Wait runs the list and waits until the device has finished it. It panics as Flush does.
func (r *Recorder) Wait() {
	r.Flush()
	if d, ok := r.device.(Waiting); ok {
		r.stats.Syncs++
		if err := d.Wait(); err != nil {
			panic(r.failed(err))
		}
	}
}

// Minus returns the difference from earlier counts.
func (c DeviceCounts) Minus(b DeviceCounts) DeviceCounts {
	return DeviceCounts{
		c.Launches - b.Launches, c.Kernels - b.Kernels, c.Copies - b.Copies, c.ToDevice - b.ToDevice, c.ToHost - b.ToHost,
		c.Waits - b.Waits, c.Allocs - b.Allocs, c.Frees - b.Frees, c.Graphs - b.Graphs, c.Revisions - b.Revisions,
	}
}

// deviceCounts returns the counts of the current device.
func (r *Recorder) deviceCounts() DeviceCounts {
	if d, ok := r.device.(Counting); ok {
		return d.DeviceCounts()
	}
	return DeviceCounts{}
}
