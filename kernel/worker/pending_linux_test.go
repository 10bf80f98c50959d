package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// stop stops the worker of a session with a signal and returns a function that continues
// it.
func (s *session) stop() (goOn func()) {
	s.t.Helper()
	pid, err := strconv.Atoi(s.ID())
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	for !stopped(s.t, pid) {
		runtime.Gosched()
	}
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
}

// send runs a cell in the background.
func (s *session) send(cell int, code string) <-chan link.Result {
	done := make(chan link.Result, 1)
	go func() {
		result, err := s.Execute(s.ctx, link.Execute{Cell: cell, Code: code})
		var died *link.CellError
		if errors.As(err, &died) {
			result.Error = died
		} else if err != nil {
			s.t.Error(err)
		}
		done <- result
	}()
	return done
}

// The kernel waits for an interrupted cell of a stopped worker, and none of its output
// comes after its end or in the next cell.
func TestInterruptOfAStoppedWorker(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	for cell := 1; cell < 6; cell += 2 {
		done := s.send(cell, "print")
		s.notebook.until(t, s.ctx, func(parts []part) bool { return len(parts) > 0 })
		goOn := s.stop()
		if err := s.Interrupt(s.ctx); err != nil {
			t.Errorf("interrupt: %v", err)
		}
		s.notebook.until(t, s.ctx, func(parts []part) bool {
			return slices.ContainsFunc(parts, func(p part) bool {
				return p.kind == "display" && p.cell == cell && strings.Contains(p.text, "interrupt pending") && strings.Contains(p.text, "stopped by a signal")
			})
		})
		select {
		case result := <-done:
			t.Errorf("the cell has ended while its process was stopped: %+v", result)
		default:
		}
		goOn()
		if result := <-done; result.Error == nil || result.Error.Value != "interrupted" {
			t.Errorf("got %+v", result)
		}
		last, message := 0, "none"
		for _, p := range s.notebook.take() {
			if p.kind == "display" {
				message = p.text
			}
			if p.cell != cell {
				t.Errorf("output %q is in cell %d", p.text, p.cell)
			}
			last += strings.Count(p.text, fmt.Sprintf("of cell %d\n", cell))
		}
		if message != "" {
			t.Errorf("after the end the cell still shows %q", message)
		}
		if last < 1000 {
			t.Errorf("%d lines came before the end of the cell", last)
		}
		s.cell = cell
		if got := s.must("out next"); len(got) != 1 || got[0] != (part{cell + 1, "stdout", "next\n"}) {
			t.Errorf("the next cell shows %v", got)
		}
	}
}

// Output before the worker has begun a cell belongs to the previous cell, even if the
// kernel process has already sent the next one.
func TestOutputBelongsToTheCellThatTheWorkerHasBegun(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	file := filepath.Join(t.TempDir(), "go")
	s.must("writer " + file)
	goOn := s.stop()
	done := s.send(2, "out of cell 2")
	for s.runs() != 2 {
		runtime.Gosched()
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.notebook.until(t, s.ctx, func(parts []part) bool {
		return len(parts) == 1 && parts[0] == part{1, "stdout", "of the writer\n"}
	})
	s.notebook.take()
	goOn()
	<-done
	if got := s.notebook.take(); len(got) != 1 || got[0] != (part{2, "stdout", "of cell 2\n"}) {
		t.Errorf("cell 2 shows %v", got)
	}
}

// A second interrupt ends a stopped worker, and the session continues with a new one.
func TestSecondInterruptOfAStoppedWorker(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	defer s.stop()()
	done := s.send(2, strings.Repeat(" ", 1<<20)) // larger than the pipe, so sending it blocks
	for s.runs() != 2 {
		runtime.Gosched()
	}
	if err := s.Interrupt(s.ctx); err != nil {
		t.Error(err)
	}
	s.early(2 * stubbornAfter)
	if err := s.Interrupt(s.ctx); err != nil {
		t.Error(err)
	}
	if e := (<-done).Error; e == nil || e.Name != Died || !strings.Contains(e.Value, "interrupted twice") {
		t.Errorf("got %v", e)
	}
	s.cell = 2
	s.must("out b")
}

// A second interrupt shortly after the first does not end the worker.
func TestSecondInterruptTooSoon(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	goOn := s.stop()
	done := s.send(2, "wait")
	for s.runs() != 2 {
		runtime.Gosched()
	}
	for range 2 {
		if err := s.Interrupt(s.ctx); err != nil {
			t.Error(err)
		}
		s.early(-time.Hour) // however slow the machine is
	}
	goOn()
	// When the worker continues it reads both requests, and may handle either first.
	result := <-done
	if e := result.Error; e == nil || e.Value != "interrupted" && e.Value != "before the cell began" {
		t.Errorf("got %+v", result)
	}
	s.cell = 2
	s.must("out b")
}

func TestShutdownOfAStoppedWorker(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	s.stop()
	if err := s.Shutdown(s.ctx); !errors.Is(err, errUnresponsive) {
		t.Errorf("shutdown: %v", err)
	}
}

// early makes the first interrupt of the running cell appear earlier by d.
func (s *session) early(d time.Duration) {
	e := s.current.execution.Load()
	u := *e.first.Load()
	u.at = u.at.Add(-d)
	e.first.Store(&u)
}

// runs returns the cell that has been sent to the worker and has not ended, or 0.
func (s *session) runs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.current.execution.Load()
	if e == nil || closed(e.ended) {
		return 0
	}
	return e.cell
}

// stopped reports whether a stop signal has taken effect on a process.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(stat), ") T ")
}

// An interrupt that is carried out late does not reach the next cell.
func TestLateInterruptSparesTheNextCell(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	first := s.send(1, "wait")
	for s.runs() != 1 {
		runtime.Gosched()
	}
	late := s.Interrupter()
	if err := s.Interrupt(s.ctx); err != nil {
		t.Error(err)
	}
	<-first
	second := s.send(2, "wait")
	for s.runs() != 2 {
		runtime.Gosched()
	}
	if err := late(s.ctx); err != nil || s.Interrupted() {
		t.Errorf("the next cell was interrupted: %t, %v", s.Interrupted(), err)
	}
	if err := s.Interrupt(s.ctx); err != nil || !s.Interrupted() {
		t.Errorf("the next cell was interrupted: %t, %v", s.Interrupted(), err)
	}
	<-second
}

// A process is not killed because of a cell that has ended meanwhile.
func TestStubbornCellEndsInTime(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	s.must("out a")
	s.current.killUnlessOver(s.current.execution.Load())
	s.must("out b")
}
