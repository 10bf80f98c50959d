package worker

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/quernlab/quern/kernel/link"
)

// Interrupts that have not taken effect yet.
//
// The worker process decides itself when to give up on a cell that it cannot stop. But it
// cannot decide or reply while a signal has stopped it, while it waits for a core on a
// busy machine, or while Go's runtime has stopped all goroutines and waits for one of
// them (during the copy of a gigabyte, for example). The kernel process then waits for
// the cell: the worker runs nothing else before the cell has ended, and only the worker
// knows which cell its output belongs to.

const (
	// pendingAfter is how long an interrupted cell may take to end before the notebook
	// shows that the interrupt is pending.
	pendingAfter = time.Second
	// stubbornAfter is how long an interrupted cell may take to end before a second interrupt
	// ends its process.
	stubbornAfter = 5 * time.Second
	// A second interrupt ends the process only after it had a chance to react: when it
	// has used reactionCPU of CPU time, or after reactionTime, whatever its CPU time.
	reactionCPU  = time.Second
	reactionTime = 30 * time.Second
	// sampleInterval is how often the CPU time is read meanwhile.
	sampleInterval = 100 * time.Millisecond
)

// interrupted handles an interrupt of a cell; it returns false if the cell has ended or is
// nil. After the first interrupt of a cell it reports the interrupt as pending if the cell
// does not end soon. After a second one it ends the process if the cell does not end.
func (p *workerProcess) interrupted(e *execution) (runs bool) {
	if e == nil || closed(e.ended) {
		return false
	}
	now := p.sample()
	if e.first.CompareAndSwap(nil, &now) {
		go p.reportPending(e, now)
		return true
	}
	if now.at.Sub(e.first.Load().at) >= stubbornAfter && e.insisted.CompareAndSwap(false, true) {
		go p.endStubborn(e, now)
	}
	return true
}

// reportPending shows in the notebook, once and until the cell has ended, that the kernel is waiting for
// an interrupted cell.
func (p *workerProcess) reportPending(e *execution, since usage) {
	if within(pendingAfter, e.ended) {
		return
	}
	text := fmt.Sprintf("interrupt pending: the cell has not stopped after %v; %s; waiting for it. "+
		"To end its process, and lose the variables, interrupt again after %v, or restart the kernel.", pendingAfter, p.sample().since(since), stubbornAfter)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return // output of the cell must come before its end
	}
	p.log.Warn("interrupt pending", "cell", e.cell)
	e.shown = uuid.NewString()
	p.showPending(e, "display", text)
}

// showPending shows a text in place of the one before. A notebook that is gone needs none.
func (p *workerProcess) showPending(e *execution, kind, text string) {
	_ = p.notebook.Display(link.Display{Cell: e.cell, Kind: kind, ID: e.shown, Data: map[string]any{"text/plain": text}})
}

// endStubborn ends the process if the cell does not end although the process could have
// reacted to the interrupt: it has used CPU time, or a signal has stopped it.
func (p *workerProcess) endStubborn(e *execution, second usage) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-p.ended:
			return
		case <-ticker.C:
		}
		if p.sample().couldReact(second) {
			p.killUnlessOver(e)
			return
		}
	}
}

// killUnlessOver ends the process because of a cell, unless the cell has ended meanwhile.
func (p *workerProcess) killUnlessOver(e *execution) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	p.log.Warn("worker killed: its cell did not stop", "cell", e.cell)
	p.kill("the cell was interrupted twice and did not stop")
}

// usage is the state of the worker process at one moment.
type usage struct {
	at      time.Time
	cpu     time.Duration
	stopped bool // by a signal
	known   bool // cpu and stopped are valid
}

// sample reads the current usage of the process.
func (p *workerProcess) sample() usage {
	u := usage{at: time.Now()}
	u.cpu, u.stopped, u.known = p.runner.Usage()
	return u
}

// couldReact reports whether the process has had the chance to end its cell since the
// second interrupt. Time alone does not decide that: on a busy machine a process may get
// no CPU time for long. A process that is stopped by a signal will not react.
func (u usage) couldReact(second usage) bool {
	waited := u.at.Sub(second.at)
	return u.stopped && waited >= pendingAfter || u.known && second.known && u.cpu-second.cpu >= reactionCPU || waited >= reactionTime
}

// since describes what the process did between two samples.
func (u usage) since(before usage) string {
	switch {
	case u.stopped:
		return "its process is stopped by a signal"
	case !u.known || !before.known:
		return "its process does not respond"
	}
	return fmt.Sprintf("its process has used %.2f s of CPU time since", (u.cpu - before.cpu).Seconds())
}
