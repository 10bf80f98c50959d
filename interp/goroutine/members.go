package goroutine

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"unsafe"
)

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
