package interp

import (
	"context"
	"runtime/pprof"
	"strconv"
	"sync"
	"unsafe"
)

// labels tells which run the calling goroutine comes from, at the cost of a
// function call. A goroutine inherits the profiling labels of the one that
// starts it, in compiled code too, so each run has labels of its own and is
// found by their address. A cell that sets labels itself is not known by them.
type labels struct {
	runs sync.Map // unsafe.Pointer to *run
}

// enter gives the calling goroutine, and those that it will start, the labels
// of r. Profiles of the process name the cell.
func (l *labels) enter(r *run) {
	if r.labels == nil {
		return // it never ran as a cell
	}
	pprof.SetGoroutineLabels(r.labels)
	l.runs.Store(profileLabel(), r)
}

// label makes the labels of a run.
func label(r *run) context.Context {
	return pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(r.cell)))
}

// current is the run of the calling goroutine, or nil.
func (l *labels) current() *run {
	r, _ := l.runs.Load(profileLabel())
	run, _ := r.(*run)
	return run
}

// profileLabel is the address of the labels of the calling goroutine, which the
// runtime keeps open to other packages under this name.
//
//go:linkname profileLabel runtime/pprof.runtime_getProfLabel
func profileLabel() unsafe.Pointer
