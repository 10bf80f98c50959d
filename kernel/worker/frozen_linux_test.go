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

// A worker that does not even read is given up, and ends with the kernel.
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
	done := make(chan error, 1)
	go func() {
		// More than the pipe takes: sending it does not end.
		_, err := s.Execute(s.ctx, link.Execute{Cell: 2, Code: strings.Repeat(" ", 1<<20)})
		done <- err
	}()
	if err := s.Interrupt(s.ctx); !errors.Is(err, errFrozen) {
		t.Errorf("interrupt: %v", err)
	}
	if err := s.Shutdown(s.ctx); !errors.Is(err, errFrozen) {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-done; err == nil {
		t.Error("the cell has run")
	}
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
