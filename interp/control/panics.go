package control

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// Panics of goroutines.
//
// A panic in any goroutine ends a compiled program. In a session it fails a cell: the one
// that runs, at its end, or else the next one, before it starts. This also holds for timers,
// and for functions that widgets call.
//
// A goroutine that panics runs its deferred calls first, and one of them may let the cell
// continue, such as defer wg.Done(). The panic is recorded only after them, when the cell may
// have ended. So the end of a cell waits for goroutines that are panicking, see countPanicking.

// panics are the panics that have not failed a cell yet.
type panics struct {
	mu     sync.Mutex
	cells  []*cellPanics   // in the order of their first panics
	slow   map[uint64]bool // goroutines for which Settle has waited long enough
	hidden int             // how many more, whose numbers are not known
	active atomic.Int64    // goroutines that run
}

// cellPanics are those of the goroutines of one cell.
type cellPanics struct {
	cell  int
	what  string // that panicked first: a goroutine, or another function of the cell
	first *diagnostics.Error
	more  int
}

// add records a panic.
func (p *panics) add(cell int, what string, e *diagnostics.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.cells, func(c *cellPanics) bool { return c.cell == cell }); i >= 0 {
		p.cells[i].more++
		return
	}
	p.cells = append(p.cells, &cellPanics{cell: cell, what: what, first: e})
}

// take removes all panics, or those of one cell, and returns the first. more counts the others.
func (p *panics) take(of func(*cellPanics) bool) (first *cellPanics, more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cells = slices.DeleteFunc(p.cells, func(c *cellPanics) bool {
		if !of(c) {
			return false
		}
		more += 1 + c.more
		if first == nil {
			first = c
		}
		return true
	})
	return first, more - 1
}

// TakePanic returns the first panic of a goroutine that no cell has reported; nil if there is none.
// next says that it is the error of the next cell, which will not run.
func (g *Goroutines) TakePanic(next bool) *diagnostics.Error {
	first, more := g.panics.take(func(*cellPanics) bool { return true })
	if first == nil {
		return nil
	}
	where := fmt.Sprintf("in %s of %s, after the end of that cell%s", first.what, diagnostics.Filename(first.cell), others(more))
	if next {
		where += "; this cell has not been run"
	}
	return first.first.InGoroutine(where, first.cell)
}

// HasPanicked reports whether a goroutine of a cell has panicked.
func (g *Goroutines) HasPanicked(cell int) bool {
	g.panics.mu.Lock()
	defer g.panics.mu.Unlock()
	return slices.ContainsFunc(g.panics.cells, func(c *cellPanics) bool { return c.cell == cell })
}

// EndCell returns the error of a cell that ends, given its own one, which may be nil. The panics
// of its goroutines, and of other cells' goroutines while it ran, fail it. An own error hides
// those of its own goroutines, which are written to its standard error.
func (g *Goroutines) EndCell(cell int, own error) error {
	if own != nil {
		if first, more := g.panics.take(func(c *cellPanics) bool { return c.cell == cell }); first != nil {
			g.write(cell, first.what, first.first)
			if more > 0 {
				fmt.Fprintln(g.stderr(cell), strings.TrimPrefix(others(more), "; "))
			}
		}
		return own
	}
	first, more := g.panics.take(func(*cellPanics) bool { return true })
	switch {
	case first == nil:
		return nil
	case first.cell == cell:
		return first.first.InGoroutine("in "+first.what+" of this cell"+others(more), 0)
	}
	return first.first.InGoroutine("in "+first.what+" of "+diagnostics.Filename(first.cell)+others(more), first.cell)
}

// others returns "; 2 more have panicked".
func others(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "; 1 more has panicked"
	}
	return fmt.Sprintf("; %d more have panicked", n)
}

// Protect calls f, which the calling goroutine runs as m. A panic in f is reported, and fails
// a cell. what describes f to the user.
func (g *Goroutines) Protect(m *goroutine.Member, what string, f func()) {
	r := m.Run
	g.panics.active.Add(1)
	defer g.panics.active.Add(-1) // after the panic is recorded
	g.Enter(m)
	defer func() {
		if v := recover(); v != nil && rt.Recovered(v) != any(Unwound) && !r.HasEnded() {
			g.fail(r, what, g.describe(v))
		}
	}()
	f()
}

// protect is the name of Protect, and protected how a stack trace shows it.
const (
	protect   = stack.Module + "interp/control.(*Goroutines).Protect"
	protected = protect + "("
)

// describe describes the panic of the calling goroutine.
func (g *Goroutines) describe(value any) (e *diagnostics.Error) {
	// Describing the value runs code of the cell.
	defer func() {
		if recover() != nil {
			e = diagnostics.New(diagnostics.Panic, "a value that cannot be shown", nil)
		}
	}()
	return g.reports.Panic(rt.Recovered(value))
}

// fail makes a failure of the calling goroutine end the program that r runs, or else fail a
// cell.
func (g *Goroutines) fail(r *goroutine.Run, what string, e *diagnostics.Error) {
	switch {
	case r.Program:
		g.write(r.Cell, what, e)
		r.End(true, panicStatus)
		return
	case r.IsStopped(): // its cell has failed
		g.write(r.Cell, what, e)
		return
	}
	g.panics.add(r.Cell, what, e)
	if running := g.running.Load(); running == nil || running.Serial == 0 {
		g.write(r.Cell, what, e)
		return
	}
	// The cell may run for long. Its error has the traceback.
	text, _, _ := strings.Cut(e.Error(), "\n")
	if e.At.IsValid() {
		text = fmt.Sprintf("%s:%d:%d: %s", e.At.Filename, e.At.Line, e.At.Column, text)
	}
	fmt.Fprintf(g.stderr(r.Cell), "note: %s has panicked, and the cell that runs will fail at its end: %s\n", what, text)
}

// panicStatus is the exit status of a Go program that panics.
const panicStatus = 2

// write writes an error of a goroutine to the standard error of its cell.
func (g *Goroutines) write(cell int, what string, e *diagnostics.Error) {
	fmt.Fprintf(g.stderr(cell), "in %s of %s:\n%s\n", what, diagnostics.Filename(cell), strings.Join(e.Traceback, "\n"))
}

// Settle waits for the goroutines that are panicking, until each has recorded its panic or has
// recovered. It does not wait for long for one whose deferred calls block or do not end, nor if ctx
// ends: such a panic fails a later cell. Only the time that such a goroutine could run counts, so
// the load of the machine and other goroutines do not matter.
func (g *Goroutines) Settle(ctx context.Context) {
	if g.panics.active.Load() == 0 {
		return
	}
	c, spent := startClock(), map[uint64]time.Duration{}
	for pause := shortestSettle; ; pause = min(2*pause, longestSettle) {
		ids, runnable := g.panics.awaited()
		if len(ids) == 0 {
			return
		}
		share, cpu := c.tick()
		if runnable > 0 { // a goroutine that is blocked may wait for one of them
			share = min(share, cpu/time.Duration(runnable))
		}
		share = min(share, pause) // the rest went to the garbage collector, to these stacks, or to other processes
		for _, id := range ids {
			if spent[id] += share; spent[id] > goroutine.Grace {
				g.panics.setSlow(id)
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

const (
	shortestSettle = 100 * time.Microsecond
	longestSettle  = 10 * time.Millisecond
)

// awaited returns the goroutines that are panicking, or run a deferred call that has recovered,
// without the slow ones. The number of one that only the profile shows is 0. For runnable, see
// visiblePanicking.
func (p *panics) awaited() (ids []uint64, runnable int) {
	panicking, deep := countPanicking()
	var visible map[uint64]bool
	if panicking > 0 || deep {
		visible, runnable = visiblePanicking(stack.All()) // after the count: whoever began later is visible and not slow
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	slow := map[uint64]bool{}
	for id, whole := range visible {
		if whole {
			panicking--
		}
		if p.slow[id] {
			slow[id] = true
		} else {
			ids = append(ids, id)
		}
	}
	p.slow = slow
	p.hidden = max(min(p.hidden, panicking), 0)
	if panicking > p.hidden {
		ids = append(ids, 0)
	}
	return ids, runnable
}

// setSlow makes Settle ignore a goroutine. 0 is one more whose number is not known.
func (p *panics) setSlow(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == 0 {
		p.hidden++
		return
	}
	p.slow[id] = true
}

// Which goroutines are panicking.
//
// From the moment when a goroutine begins to panic until a deferred call that recovers has returned, the runtime's function
// gopanic is on its stack: also between two deferred calls, in deferred calls of compiled code, and in Protect, which records
// the panic. The goroutine profile shows that, and so how many there are. A stack trace, which has the number of a goroutine,
// omits gopanic between two deferred calls, like all functions of the runtime at the top of a stack. On the other hand, the
// profile only has the top of a deep stack, and a stack trace has the bottom too.

// countPanicking counts the goroutines of cells that are panicking, or run a deferred call that has recovered. deep says that
// there may be more, with stacks that are too deep for the profile.
func countPanicking() (panicking int, deep bool) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a buffer returns no error
	for line := range bytes.Lines(profile.Bytes()) {
		n, pcs := parseStack(string(line))
		panics, ofCell, last := false, false, "runtime.goexit"
		for _, pc := range pcs {
			frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			last = frame.Function
			panics = panics || last == "runtime.gopanic"
			ofCell = ofCell || last == protect || last == vm.Activation
		}
		switch {
		case ofCell && panics:
			panicking += n
		case last != "runtime.goexit":
			deep = true
		}
	}
	return panicking, deep
}

// parseStack parses a line "3 @ 0x47a1 0x47b2" of a goroutine profile: how many goroutines have a stack, and its return
// addresses. n is 0 if it is another line.
func parseStack(line string) (n int, pcs []uintptr) {
	count, addresses, found := strings.Cut(line, " @ ")
	if n, err := strconv.Atoi(count); found && err == nil {
		for address := range strings.FieldsSeq(addresses) {
			pc, _ := strconv.ParseUint(address, 0, 64)
			pcs = append(pcs, uintptr(pc))
		}
		return n, pcs
	}
	return 0, nil
}

// visiblePanicking returns the numbers of the goroutines of cells that are panicking according to stack traces, and whether
// the trace has the whole stack. runnable is the number of all goroutines that are not blocked, except the calling one, which is
// the first: they share the CPU time.
func visiblePanicking(stacks []byte) (whole map[uint64]bool, runnable int) {
	whole, runnable = map[uint64]bool{}, -1
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if !stack.IsWaiting(string(text)) {
			runnable++
		}
		if bytes.Contains(text, []byte("\npanic(")) && (bytes.Contains(text, []byte(protected)) || yaegi.RunsCells(text)) {
			whole[stack.Goroutine(string(text))] = !bytes.Contains(text, []byte(" frames elided...\n"))
		}
	}
	return whole, runnable
}
