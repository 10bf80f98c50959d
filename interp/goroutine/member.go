package goroutine

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// Grace is how long a deferred call of interrupted code may take.
const Grace = time.Second

// A Member is a goroutine of a run, with those that compiled code starts from it.
type Member struct {
	*Run
	// Goroutine is the number of the cell's own goroutine, 0 for other members.
	Goroutine uint64
	// Failure is the error of the cell's own goroutine, used if that does not return.
	// Only this goroutine accesses it.
	Failure error
	// Exit, if it is not nil, is os.Exit for the member: a test must not end the process.
	Exit func(code int)
	// Bubble is true in a bubble of testing/synctest. There a goroutine that also waits for a channel from outside, that of
	// the run, would not count as blocked, so that the time of the bubble would stand still.
	Bubble bool

	mu     sync.Mutex
	ending map[uint64]time.Time // goroutines that run deferred calls, since when
}

// Child returns the member for a goroutine that m starts; m may be nil.
func (m *Member) Child(r *Run) *Member {
	child := &Member{Run: r}
	if m != nil {
		child.Exit, child.Bubble = m.Exit, m.Bubble
	}
	return child
}

// Stopped returns a channel that is closed when the run is stopped. It is nil in a bubble.
func (m *Member) Stopped() <-chan struct{} {
	if m.Bubble {
		return nil
	}
	return m.Run.Stopped()
}

// BeginEnd reports whether a goroutine has to end now, and records that it runs its
// deferred calls from then on. A deferred call that takes longer than Grace has to end
// too; the remaining ones still run.
func (m *Member) BeginEnd(goroutine uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since, again := m.ending[goroutine]; again && time.Since(since) < Grace {
		return false
	}
	if m.ending == nil {
		m.ending = map[uint64]time.Time{}
	}
	m.ending[goroutine] = time.Now()
	return true
}

// IsEnding reports whether a goroutine runs its deferred calls because it has to end.
func (m *Member) IsEnding(goroutine uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.ending[goroutine]
	return ok
}

// Members finds the member of the calling goroutine at the cost of a function call. A
// goroutine inherits the profiling labels of the one that starts it, in compiled code
// too; so each member has labels of its own, and is found by their address. A cell that
// sets labels itself is not found.
type Members struct {
	byLabel sync.Map // uintptr to *Member
}

// Enter makes the calling goroutine, and those that compiled code will start from it,
// belong to m. Profiles of the process show the number of the cell.
func (l *Members) Enter(m *Member) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(m.Cell))))
	label := profileLabel()
	key := uintptr(label)
	l.byLabel.Store(key, m)
	// The labels are collected when the last goroutine that has them has ended.
	runtime.AddCleanup((*byte)(label), func(key uintptr) { l.byLabel.CompareAndDelete(key, m) }, key)
}

// Current returns the member of the calling goroutine, or nil.
func (l *Members) Current() *Member {
	m, _ := l.byLabel.Load(uintptr(profileLabel()))
	member, _ := m.(*Member)
	return member
}

// profileLabel returns the address of the labels of the calling goroutine. The runtime
// keeps this name accessible to other packages.
//
//go:linkname profileLabel runtime/pprof.runtime_getProfLabel
func profileLabel() unsafe.Pointer
