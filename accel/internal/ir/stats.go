package ir

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// Stats counts what the engine did.
type Stats struct {
	Flushes   int // lists run
	PlansMade int // flushes whose structure was new
	PlanHits  int // flushes that replayed a plan
	Syncs     int // times the host waited for a result
	Ops       int // ops recorded in all flushed lists
	Steps     int // loops and matrix products they became after fusion
	LiveBytes int // bytes of values that are reachable, as of the last garbage collection
	PeakBytes int // highest LiveBytes plus the temporaries of the plan that ran
	PlanBytes int // memory that the plans use for temporaries

	Device DeviceCounts // what was asked of a GPU
}

// liveBytes is counted down by clean-ups, which run on their own goroutine.
type liveBytes struct{ n atomic.Int64 }

// Stats returns the counts since the last ResetStats.
func (r *Recorder) Stats() Stats {
	s := r.stats
	s.LiveBytes = int(r.live.n.Load())
	s.PeakBytes = max(s.PeakBytes, s.LiveBytes)
	s.Device = r.asked().Minus(r.before)
	return s
}

// ResetStats sets the counts to zero; bytes stay what they are.
func (r *Recorder) ResetStats() {
	r.stats = Stats{PlanBytes: r.stats.PlanBytes}
	r.before = r.asked()
}

// Synced counts one wait of the host for a result.
func (r *Recorder) Synced() { r.stats.Syncs++ }

type tracked struct {
	live  *liveBytes
	bytes int64
}

// alloc takes storage from the device and counts it until it is unreachable.
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

// notePeak looks whether more memory is taken than ever.
func (r *Recorder) notePeak() {
	now := int(r.live.n.Load()) + r.temporaries
	r.stats.PeakBytes = max(r.stats.PeakBytes, now)
	for _, m := range r.meters {
		m.note(now, max(*m.bytes/16, 1<<20)<<m.misses, r.taken)
	}
}

// noteNew does so for a plan that has not run before: at the end of its run so many
// more bytes will be taken. With a known plan there is hardly ever a new peak.
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

// taken is what values and temporaries take, without values that nobody can reach.
func (r *Recorder) taken() int {
	Collect()
	return int(r.live.n.Load()) + r.temporaries
}

// meter keeps the most bytes that values and temporaries took at once.
type meter struct {
	bytes  *int
	misses int // how often a new peak turned out to be values that nobody can reach
}

// note believes in a new peak that is above the old one by a margin if it still is
// one when what nobody can reach has been collected. After each that was none the
// margin is wider, so that a long training is not collected for ever.
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

// Meter keeps in bytes the most that values and temporaries take at once, until
// stop is called.
func (r *Recorder) Meter(bytes *int) (stop func()) {
	m := &meter{bytes: bytes}
	r.meters, *bytes = append(r.meters, m), int(r.live.n.Load())
	return func() { r.meters = slices.DeleteFunc(r.meters, func(x *meter) bool { return x == m }) }
}

// recycle hands storage back that nobody can see any more.
func (r *Recorder) recycle(b *Buffer) {
	b.cleanup.Stop()
	r.live.n.Add(-b.tracked.bytes)
	b.device.Free(b.Storage)
	b.Storage = nil
}
