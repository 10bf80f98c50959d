//go:build unix

package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/kernel/wire"
)

// Cells run, history requests are answered and SIGTERM ends the kernel, whatever kind of
// file the history is, and even if nobody reads the log.
func TestHistoryFilesThatBlock(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		make func(t *testing.T, path string) string
	}{
		{"file", func(_ *testing.T, path string) string { return path }},
		{"pipe", func(t *testing.T, path string) string { return pipe(t, path) }},
		{"endless device", func(*testing.T, string) string { return "/dev/zero" }},
		{"full device", func(*testing.T, string) string { return "/dev/full" }},
		{"directory", func(t *testing.T, path string) string { return t.TempDir() }},
		{"below a device", func(t *testing.T, path string) string { return "/dev/null/history" }},
		{"locked", func(t *testing.T, path string) string {
			lock := flock.New(path + ".lock")
			if ok, err := lock.TryLock(); !ok {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock.Unlock() })
			return path
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t)
			cmd := kernelProcess(t, r, historyVariable+"="+row.make(t, filepath.Join(t.TempDir(), "history")))
			full, ours, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			defer ours.Close()
			fill(t, ours)
			cmd.Stderr = ours
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r.connect()
			for range 3 {
				r.workerPID()
			}
			r.send(r.shell, wire.HistoryRequest, `{"hist_access_type":"tail","n":5}`)
			if m := r.receive(r.shell); m.text != `history_reply {"status":"ok","history":[[1,1,"pid"],[1,2,"pid"],[1,3,"pid"]]}` {
				t.Error(m.text)
			}
			r.workerPID()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the kernel process ended with %v", err)
			}
		})
	}
}

// fill fills a pipe, so that the next write blocks.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	fd := int(w.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := syscall.Write(fd, make([]byte, 4096)); err != nil {
			break
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

func pipe(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A connection file that blocks or never ends is rejected.
func TestConnectionFilesThatBlock(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		testenv.Missing(t, "%v", err)
	}
	for path, want := range map[string]string{
		pipe(t, filepath.Join(t.TempDir(), "pipe")): "not a regular file",
		"/dev/zero":   "not a regular file",
		t.TempDir():   "not a regular file",
		large:         "1099511627776 bytes",
		"/dev/null/x": "not a directory",
	} {
		if err := Run(t.Context(), config(path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}
