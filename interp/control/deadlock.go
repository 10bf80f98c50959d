package control

import (
	"bytes"
	"runtime"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// Deadlocks.
//
// A cell is in a deadlock if its own goroutine and all others of the session wait for each
// other: for a channel, or for something of package sync. The stacks of all goroutines, which
// are collected while the program is stopped, show that. Whatever else may happen counts as an
// event that can wake the cell: a goroutine that runs, sleeps, reads, or is in compiled code; a
// timer or context that has to call a function; in front of a person, widgets that call
// functions. Timers have no goroutine, so a wait for a channel that may be one of a timer, a
// context or a signal is marked by the names of functions of package rt, see rt.Outside.

const (
	// deadlockInterval is how often a cell that runs is examined, and deadlockLooks how often
	// in a row nothing can wake it before this is reported: after two to three seconds.
	deadlockInterval = time.Second
	deadlockLooks    = 3
	// skipped is for how many times the duration of an examination there is none after it.
	skipped = 10
	// mostGoroutines bounds the cost of an examination.
	mostGoroutines = 20_000
)

// A DeadlockWatch examines the cell that runs.
type DeadlockWatch struct {
	// Ticks returns when to examine it, until stop is called.
	Ticks func() (at <-chan time.Time, stop func())
	// Foreign are goroutines that do not belong to the session and are not examined.
	Foreign map[uint64]bool

	goroutines *Goroutines
}

// NewDeadlockWatch returns a watch of a session's goroutines.
func NewDeadlockWatch(g *Goroutines) *DeadlockWatch {
	return &DeadlockWatch{goroutines: g, Ticks: func() (<-chan time.Time, func()) {
		t := time.NewTicker(deadlockInterval)
		return t.C, t.Stop
	}}
}

// Begin begins to watch a cell whose own goroutine has a number. widgets says that a person may
// use its widgets. The result is to be called at each tick. It returns the goroutines of the
// session, that of the cell first, if nothing can wake them, and otherwise nil.
func (w *DeadlockWatch) Begin(own uint64, widgets bool) (look func() []diagnostics.Waiting) {
	looks, skip := 0, 0
	return func() []diagnostics.Waiting {
		if skip > 0 {
			skip--
			return nil
		}
		start := time.Now()
		waits := w.examine(own, widgets)
		// The program is stopped during it. With a deep stack this can take longer than the interval.
		skip = int(skipped * time.Since(start) / deadlockInterval)
		if waits == nil {
			looks = 0
			return nil
		}
		if looks++; looks != deadlockLooks {
			return nil
		}
		return waits
	}
}

func (w *DeadlockWatch) examine(own uint64, widgets bool) []diagnostics.Waiting {
	g := w.goroutines
	if runtime.NumGoroutine() > mostGoroutines || widgets && g.handlers.Load() {
		return nil
	}
	stacks := stack.All()
	if g.expected.Load() > 0 || g.timers.Load() > 0 { // asked after the stacks were taken
		return nil
	}
	return asleep(stacks, own, w.Foreign)
}

// asleep returns the waits of all goroutines of cells in the stacks of all goroutines, of which the
// first is that of the caller; nil if one of them, or another goroutine, can go on.
func asleep(stacks []byte, own uint64, foreign map[uint64]bool) (waits []diagnostics.Waiting) {
	found := false
	_, others, _ := bytes.Cut(stacks, []byte("\n\n"))
	for text := range bytes.SplitSeq(others, []byte("\n\n")) {
		s := string(text)
		id := stack.Goroutine(s)
		switch {
		case id == 0, foreign[id]:
		case yaegi.RunsCells(text) || bytes.Contains(text, []byte(protected)) || id == own:
			wait := diagnostics.Waiting{Stack: s, For: waitsFor(s)}
			if wait.For == "" {
				return nil
			}
			if waits = append(waits, wait); id == own {
				found = true
				waits[0], waits[len(waits)-1] = wait, waits[0]
			}
		case !isHarmless(s):
			return nil
		}
	}
	if !found {
		return nil
	}
	return waits
}

// isHarmless reports whether a goroutine that runs no code of cells does not wake those that do.
func isHarmless(text string) bool {
	_, owner, created := strings.Cut(text, "\ncreated by ")
	if strings.HasPrefix(owner, "sync.(*WaitGroup).Go ") { // the function that it calls
		frames, _, _ := strings.Cut(text, "\nsync.(*WaitGroup).Go.func1(")
		frames, _ = cutLast(frames, "\n")
		_, owner = cutLast(frames, "\n")
	}
	switch {
	case !created:
		return strings.Contains(text, "\nmain.main(")
	case strings.HasPrefix(owner, rtPackage+"(*routines).await"):
		return stack.IsWaiting(text) // on behalf of a goroutine that is examined
	case strings.HasPrefix(owner, "os/signal."), strings.HasPrefix(owner, "context."), strings.HasPrefix(owner, "main."):
		return true // who waits for a signal or a context is marked
	}
	for _, p := range []string{"interp", "kernel", "cmd", "internal"} {
		if strings.HasPrefix(owner, stack.Module+p) {
			return true
		}
	}
	return strings.HasPrefix(owner, stack.Module) && stack.IsWaiting(text)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+len(separator):]
}

// rtPackage begins the names of functions of package rt.
const rtPackage = stack.Module + "interp/rt."

// waitFunctions are the beginnings of the functions in which goroutines of cells wait for others, and
// what for. The first one on the stack counts.
var waitFunctions = []struct{ prefix, what string }{
	{rtPackage + "ReceiveOutside[", ""},
	{rtPackage + "(*routines).waitOutside(", ""},
	{rtPackage + "(*routines).ChooseOutside(", ""},
	{rtPackage + "Receive[", "to receive from a channel"},
	{rtPackage + "(*routines).ReceiveFrom(", "to receive from a channel"},
	{rtPackage + "Send[", "to send on a channel"},
	{rtPackage + "(*routines).SendOn(", "to send on a channel"},
	{rtPackage + "(*routines).Choose(", "in a select statement"},
	{rtPackage + "(*routines).WaitGroupWait(", "for a sync.WaitGroup"},
	{rtPackage + "(*routines).Lock(", "to lock a sync.Mutex"},
	{rtPackage + "(*routines).LockRW(", "to lock a sync.RWMutex"},
	{rtPackage + "(*routines).RLock(", "to lock a sync.RWMutex"},
	{"sync.(*Cond).Wait(", "for a sync.Cond"},
	{"sync.(*Once).", "for a sync.Once"},
	{"io.(*pipe).", "for the other end of an io.Pipe"},
}

// waitsFor returns what a goroutine waits for that only another goroutine can do, or "".
func waitsFor(text string) string {
	if !stack.IsWaiting(text) {
		return ""
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		for _, f := range waitFunctions {
			if strings.HasPrefix(line, f.prefix) {
				return f.what
			}
		}
		switch {
		case strings.HasPrefix(line, vm.Functions):
			return ""
		case strings.HasPrefix(line, "sync.(*Mutex).Lock"), strings.HasPrefix(line, "sync.runtime_"), strings.HasPrefix(line, "internal/sync."),
			strings.HasPrefix(line, "runtime."), strings.HasPrefix(line, "reflect."), strings.HasPrefix(line, rtPackage):
		default:
			return ""
		}
	}
	return ""
}
