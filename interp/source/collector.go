package source

import (
	"runtime/debug"
	"runtime/metrics"
)

// headroom is the memory in bytes that the collector may leave uncollected while packages are
// compiled, beyond what it leaves otherwise.
const headroom = 192 << 20

// relaxCollector makes the garbage collector run less often while packages are compiled, which
// allocates much and keeps most of it: a first import takes a fifth less CPU time.
func (l *Loader) relaxCollector() {
	if l.restore != nil {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	live, percent := max(sample[0].Value.Uint64(), 4<<20), sample[1].Value.Uint64()
	if percent > 1000 {
		return // off, or already relaxed
	}
	before := debug.SetGCPercent(int(percent + min(headroom*100/live, 1000)))
	l.restore = func() { debug.SetGCPercent(before) }
}

// End is called when a cell has been compiled.
func (l *Loader) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation = l.modules.Generation()
	if l.restore != nil {
		l.restore()
		l.restore = nil
	}
}
