package control

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// Goroutines starts the goroutines of cells and ends them when their run is stopped.
type Goroutines struct {
	members *goroutine.Members
	running atomic.Pointer[goroutine.Run]
	flag    *StopFlag
	stderr  func(cell int) io.Writer
	reports reports
	panics  panics

	expected atomic.Int64 // functions of Guard that have not been called
	timers   atomic.Int64 // timers that call functions of cells, and may be reset
	handlers atomic.Bool  // widgets may call functions of cells

	mu      sync.Mutex
	started map[int]int // functions of Guard that have not returned, by the number of their cell
}

// reports describes why a goroutine ends. Each method describes the calling one.
type reports interface {
	Panic(value any) *diagnostics.Error
	Overflow() *diagnostics.Error
	Interrupted() *diagnostics.Error
}

// NewGoroutines returns the goroutines of a session. stderr returns where errors of the
// goroutines of a cell are written.
func NewGoroutines(m *goroutine.Members, f *StopFlag, stderr func(cell int) io.Writer) *Goroutines {
	return &Goroutines{members: m, flag: f, stderr: stderr, started: map[int]int{}}
}

// ReportTo sets what describes why goroutines end. It is called before the first cell runs.
func (g *Goroutines) ReportTo(r reports) { g.reports = r }

// Enter makes the calling goroutine, and those that compiled code starts from it, belong
// to m.
func (g *Goroutines) Enter(m *goroutine.Member) { g.members.Enter(m) }

// Member returns the member that the calling goroutine belongs to, or nil.
func (g *Goroutines) Member() *goroutine.Member { return g.members.Current() }

// SetRunning sets the run of the cell that is running; nil if there is none.
func (g *Goroutines) SetRunning(r *goroutine.Run) { g.running.Store(r) }

// Run returns the run that the calling goroutine belongs to. If that is not known it
// returns the one that is running, or nil.
func (g *Goroutines) Run() *goroutine.Run {
	if m := g.Member(); m != nil {
		return m.Run
	}
	return g.running.Load()
}

// Cell returns the number of the cell that the calling goroutine belongs to, also through
// goroutines of compiled code; 0 if it belongs to none.
func (g *Goroutines) Cell() int {
	if m := g.Member(); m != nil {
		return m.Cell
	}
	return 0
}

// Start is the go statement of a cell.
func (g *Goroutines) Start(cell int, f func()) { go g.Guard(cell, f)() }

// Guard wraps f so that it can be the function of a go statement. The goroutine belongs to
// the run that calls Guard, or to cell if that run is unknown. A panic in f ends only that
// goroutine and fails a cell.
func (g *Goroutines) Guard(cell int, f func()) func() {
	r := g.Run()
	if r == nil {
		r = goroutine.NewRun(cell)
	}
	done, parent := r.Expect(), g.Member()
	g.expected.Add(1)
	g.countStarted(r.Cell, 1)
	begin := sync.OnceFunc(func() { g.expected.Add(-1) })
	return func() {
		begin()
		defer g.countStarted(r.Cell, -1)
		defer done()
		defer r.Enter()()
		if r.IsStopped() && !r.IsCalling() {
			return // the first check would end it
		}
		g.Protect(parent.Child(r), "a goroutine", f)
	}
}

// countStarted adds n to the functions of Guard that have not returned.
func (g *Goroutines) countStarted(cell, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started[cell] += n; g.started[cell] == 0 {
		delete(g.started, cell)
	}
}

// Started returns the numbers of the cells whose goroutines are running, in order, apart from goroutines that run a cell.
func (g *Goroutines) Started() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.started))
}

// HasStarted reports whether goroutines of cells are running, apart from those that run a cell.
func (g *Goroutines) HasStarted() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.started) > 0
}

// AddTimer records a timer that calls a function of a cell.
func (g *Goroutines) AddTimer(t *time.Timer) {
	g.timers.Add(1)
	runtime.AddCleanup(t, func(n *atomic.Int64) { n.Add(-1) }, &g.timers)
}

// AddHandler records that a widget may call a function of a cell.
func (g *Goroutines) AddHandler() { g.handlers.Store(true) }

// Check is called at loop heads and function entries while the stop flag is up. It ends the
// calling goroutine if its run is stopped or its stack is too large.
func (g *Goroutines) Check() {
	m := g.Member()
	switch {
	case m == nil:
	case m.IsStopped():
		g.EndIfStopped(m)
	case g.flag.deep.Load():
		g.endIfDeep(m)
	}
}

// EndIfStopped ends the calling goroutine, which belongs to m, if its run is stopped. Its
// deferred calls then run, and may take a while. It uses runtime.Goexit instead of a panic,
// which code could recover from, and with which the time to end a deep recursion would
// grow with the square of the depth.
//
// While a call such as accel.Fit is about to return, it only ends a function of the cell that
// this call has called and that takes too long: by the panic Unwound, which passes the call.
func (g *Goroutines) EndIfStopped(m *goroutine.Member) {
	switch {
	case !m.IsStopped():
	case !m.IsCalling():
		g.end(m)
	case m.TakeUnwinding(stack.ID):
		panic(Unwound)
	}
}

// EndWait ends what the calling goroutine, which belongs to m, does if its run is stopped,
// because it waits in vain: if a call such as accel.Fit has called it, only up to there.
func (g *Goroutines) EndWait(m *goroutine.Member) {
	if m.IsStopped() && m.IsCalling() && isCallback() {
		panic(Unwound)
	}
	g.EndIfStopped(m)
}

// BeginCall counts a call that returns what it has when the run of m is stopped, until end is
// called. A goroutine whose run is stopped begins no such call, except within another one.
func (g *Goroutines) BeginCall(m *goroutine.Member) (end func()) {
	if m.IsStopped() && !isCallback() {
		g.end(m)
	}
	return m.BeginCall()
}

// end ends the calling goroutine, which belongs to m, whose run is stopped.
func (g *Goroutines) end(m *goroutine.Member) {
	if m.HasEnded() {
		runtime.Goexit()
	}
	id := stack.ID()
	if !m.BeginEnd(id) {
		return
	}
	if m.Goroutine != 0 && m.Goroutine == id {
		m.Failure = g.reports.Interrupted()
	}
	runtime.Goexit()
}

// deepStack is the number of frames that distinguishes the goroutine whose stack is large from
// others.
const deepStack = 20_000

// endIfDeep ends the calling goroutine if it is the one whose stack is large.
func (g *Goroutines) endIfDeep(m *goroutine.Member) {
	id := stack.ID()
	if m.IsEnding(id) {
		return // its deferred calls
	}
	var caller [1]uintptr
	if runtime.Callers(deepStack, caller[:]) == 0 {
		return
	}
	m.BeginEnd(id)
	e := g.reports.Overflow()
	if m.Goroutine == id {
		m.Failure = e
	} else {
		g.fail(m.Run, "a goroutine", e)
	}
	runtime.Goexit()
}

// Stopped returns a channel that is closed when the run of the calling goroutine is
// stopped; nil if it belongs to none.
func (g *Goroutines) Stopped() <-chan struct{} {
	if m := g.Member(); m != nil {
		return m.Stopped()
	}
	return nil
}

// Exit is os.Exit for cells: it ends the tests or the program that a cell runs, or the process if
// there are none.
func (g *Goroutines) Exit(code int) {
	m := g.Member()
	if m != nil && m.Exit != nil {
		m.Exit(code)
		runtime.Goexit()
	}
	if m == nil || !m.Program {
		os.Exit(code)
	}
	m.End(true, code)
	runtime.Goexit()
}

// HasEnded reports whether the calling goroutine belongs to a program that has ended.
func (g *Goroutines) HasEnded() bool {
	m := g.Member()
	return m != nil && m.HasEnded()
}

// An Activity is what a goroutine of a cell is doing.
type Activity struct {
	function string // full name of the compiled function that lowered code called
	ends     bool   // it will end on its own: it runs lowered code or deferred calls, or waits for a child process
	callback string // the rest of the stack, if a package of Quern has called the function of the cell
	calls    bool   // a function of Quern's packages is about to return to its run
	waits    bool   // the goroutine is blocked: it does not need CPU time to continue
}

// activityIn returns what the cell's own goroutine is doing, given the stacks of all.
func activityIn(stacks []byte, m *goroutine.Member) Activity {
	head := fmt.Appendf(nil, "goroutine %d [", m.Goroutine)
	ending := m.IsEnding(m.Goroutine) // asked after the stacks were taken
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.HasPrefix(text, head) {
			a := activityOf(string(text))
			if ending {
				a = Activity{ends: true, callback: a.callback}
			}
			a.calls = m.IsCalling()
			a.waits = stack.IsWaiting(string(text))
			return a
		}
	}
	return Activity{}
}

// activityOf finds the function that lowered code called: the last one of a stack before
// the functions that run lowered code, package reflect that called it, and our wrappers.
func activityOf(text string) (a Activity) {
	rest := text
	for line := range strings.Lines(text) {
		rest = rest[len(line):]
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if i := strings.LastIndexByte(line, '('); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.HasPrefix(line, vm.Functions):
			a.ends = a.function == "" || strings.HasPrefix(a.function, "os/exec.") || strings.Contains(a.function, magic)
			a.callback = callerIn(rest)
			return a
		case strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "internal/"), strings.HasPrefix(line, "reflect."):
		case a.function != "" && isWrapper(line):
		default:
			a.function = line
		}
	}
	return Activity{}
}

// callerIn returns the part of a stack that begins with a function of a package of Quern; "" if
// there is none.
func callerIn(text string) string {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if isOwn(line) {
			return text[at:]
		}
		at += len(line) + 1
	}
	return ""
}

// isOwn reports whether compiled code of a package of Quern runs.
func (a Activity) isOwn() bool { return !a.ends && isOwn(a.function) }

// magic is part of the names of functions that wait for child processes too.
const magic = stack.Interp + "/magic."

// isWrapper reports whether a function is one that cells call instead of a compiled
// function, which it calls.
func isWrapper(function string) bool {
	_, name, ok := strings.Cut(function, stack.Interp)
	if !ok {
		return false
	}
	for _, p := range []string{".", "/control.", "/library.", "/registration.", "/stream."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
