package interp

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"unsafe"
)

// members tells which member the calling goroutine is, or comes from, at the cost
// of a function call. A goroutine inherits the profiling labels of the one that
// starts it, in compiled code too, so each member has labels of its own and is
// found by their address. A cell that sets labels itself is not known by them.
type members struct {
	byLabel sync.Map // uintptr to *member
}

// enter makes m of the calling goroutine, and of those that compiled code will
// start from it. Profiles of the process name the cell.
func (l *members) enter(m *member) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(m.cell))))
	label := profileLabel()
	key := uintptr(label)
	l.byLabel.Store(key, m)
	// The last of its goroutines has ended.
	runtime.AddCleanup((*byte)(label), func(key uintptr) { l.byLabel.CompareAndDelete(key, m) }, key)
}

// current is the member of the calling goroutine, or nil.
func (l *members) current() *member {
	m, _ := l.byLabel.Load(uintptr(profileLabel()))
	member, _ := m.(*member)
	return member
}

// profileLabel is the address of the labels of the calling goroutine, which the
// runtime keeps open to other packages under this name.
//
//go:linkname profileLabel runtime/pprof.runtime_getProfLabel
func profileLabel() unsafe.Pointer
