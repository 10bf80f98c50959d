package worker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/quernlab/quern/kernel/link"
)

// A cell whose worker does not even read is left when it is interrupted, the next
// one too, and the worker ends with the kernel.
func TestFrozenWorker(t *testing.T) {
	t.Parallel()
	s := newSession(t, quiet)
	pid, err := strconv.Atoi(strings.TrimSpace(s.must("pid")[0].text))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !stopped(t, pid) {
		runtime.Gosched()
	}
	// More than the pipe takes: sending it does not end.
	for cell, code := range []string{strings.Repeat(" ", 1<<20), ""} {
		done := make(chan link.Result, 1)
		go func() {
			result, err := s.Execute(s.ctx, link.Execute{Cell: 2 + cell, Code: code})
			if err != nil {
				t.Error(err)
			}
			done <- result
		}()
		for !s.runs(2 + cell) {
			runtime.Gosched()
		}
		if err := s.Interrupt(s.ctx); !errors.Is(err, errFrozen) {
			t.Errorf("interrupt: %v", err)
		}
		if e := (<-done).Error; e == nil || e.Name != "interrupted" || !strings.Contains(e.Value, "does not answer") {
			t.Errorf("the cell ended with %v", e)
		}
	}
	if err := s.Shutdown(s.ctx); !errors.Is(err, errFrozen) {
		t.Errorf("shutdown: %v", err)
	}
}

// runs says whether a cell has been sent to the worker.
func (s *session) runs(cell int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.busy.Load() && s.current.cell.Load() == int64(cell) && s.current.isLeft()
}

// stopped reports whether a process has taken note of a stop signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(stat), ") T ")
}
