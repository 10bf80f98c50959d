package worker

import (
	"fmt"
	"time"
)

// An interrupt that has not taken effect yet.
//
// The worker decides by itself to go on without code that it cannot stop. It cannot
// do that, nor answer anything, while its process is stopped by a signal, waits for
// a core on a busy machine, or while Go's runtime has stopped all goroutines and
// waits for one (in the copy of a gigabyte, say). The cell is awaited then: the worker
// runs nothing else before it has ended, and only it knows to which cell output belongs.

const (
	// pendingAfter is how long an interrupted cell may take to end before its
	// notebook says that the interrupt is pending.
	pendingAfter = time.Second
	// insist is how long an interrupted cell may take to end before another
	// interrupt ends its process.
	insist = 5 * time.Second
	// enough is the CPU time with which the process must have been able to answer
	// the second interrupt, and atMost how long that may take, whatever its CPU time.
	enough = time.Second
	atMost = 30 * time.Second
	// sampling is how often the CPU time is read meanwhile.
	sampling = 100 * time.Millisecond
)

// interrupted is called at each interrupt. It reports the first one of a cell as
// pending if the cell does not end soon, and ends the process if the cell goes on
// after a second one. It returns false if no cell runs.
func (l *life) interrupted() (runs bool) {
	e := l.execution.Load()
	if e == nil || closed(e.ended) {
		return false
	}
	now := l.sample()
	if e.first.CompareAndSwap(nil, &now) {
		go l.reportPending(e, now)
		return true
	}
	if now.at.Sub(e.first.Load().at) >= insist && e.insisted.CompareAndSwap(false, true) {
		go l.endStubborn(e, now)
	}
	return true
}

// reportPending tells the notebook that an interrupted cell is awaited, once.
func (l *life) reportPending(e *execution, since usage) {
	if within(pendingAfter, e.ended) {
		return
	}
	text := fmt.Sprintf("interrupt pending: after %v the cell has not stopped; %s; waiting for it. "+
		"To end its process, and lose the variables, interrupt again after %v, or restart the kernel.\n", pendingAfter, l.sample().since(since), insist)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return // what belongs to the cell must come before its end
	}
	l.log.Warn("interrupt pending", "cell", e.cell)
	l.notebook.Stream(e.cell, "stderr", []byte(text))
}

// endStubborn ends the process if the cell does not end, though the process could
// have seen the interrupt: it received CPU time, or is stopped by a signal.
func (l *life) endStubborn(e *execution, second usage) {
	ticker := time.NewTicker(sampling)
	defer ticker.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-l.ended:
			return
		case <-ticker.C:
		}
		if l.sample().couldAnswer(second) {
			l.log.Warn("worker killed: its cell did not stop", "cell", e.cell)
			l.kill("the cell was interrupted twice and did not stop")
			return
		}
	}
}

// usage is what the process of the worker has used at a moment.
type usage struct {
	at      time.Time
	cpu     time.Duration
	stopped bool // by a signal
	known   bool // cpu is
}

// sample reads the usage of the process.
func (l *life) sample() usage {
	u := usage{at: time.Now()}
	u.cpu, u.stopped, u.known = l.runner.Usage()
	return u
}

// couldAnswer says whether the process has had the chance to end its cell since a
// second interrupt. That is no question of time alone: on a busy machine it may get no
// CPU time for long. A process that is stopped by a signal will not answer.
func (u usage) couldAnswer(second usage) bool {
	waited := u.at.Sub(second.at)
	return u.stopped && waited >= pendingAfter || u.known && second.known && u.cpu-second.cpu >= enough || waited >= atMost
}

// since describes what the process did between two samples.
func (u usage) since(before usage) string {
	switch {
	case u.stopped:
		return "its process is stopped by a signal"
	case !u.known || !before.known:
		return "its process does not answer"
	}
	return fmt.Sprintf("its process received %.2f s of CPU time meanwhile", (u.cpu - before.cpu).Seconds())
}
