//go:build unix

package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// If a file cannot be used for the history, it is kept in memory, the reason is reported,
// and nothing blocks or uses much memory.
func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		make func(t *testing.T, path string) (use string)
		want string
	}{
		{"pipe", func(t *testing.T, path string) string { return pipe(t, path) }, "not a regular file"},
		{"pipe as lock", func(t *testing.T, path string) string { pipe(t, path+".lock"); return path }, "not a regular file"},
		{"endless device", func(*testing.T, string) string { return "/dev/zero" }, "not a regular file"},
		{"full device", func(*testing.T, string) string { return "/dev/full" }, "not a regular file"},
		{"link to a device", func(t *testing.T, path string) string {
			if err := os.Symlink("/dev/zero", path); err != nil {
				t.Fatal(err)
			}
			return path
		}, "not a regular file"},
		{"directory", func(t *testing.T, path string) string {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			return path
		}, "not a regular file"},
		{"below a file", func(t *testing.T, path string) string {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(path, "history")
		}, "not a directory"},
		{"no permission", func(t *testing.T, path string) string {
			if os.Getuid() == 0 {
				t.Skip("root may do everything")
			}
			if err := os.WriteFile(path, nil, 0); err != nil {
				t.Fatal(err)
			}
			return path
		}, "permission denied"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := row.make(t, filepath.Join(t.TempDir(), "history"))
			failures := make(chan error, 1)
			h := Open(path, func(err error) { failures <- err })
			h.Add(1, "x", "")
			if err := <-failures; !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "this session only") {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if got := inputs(h.Tail(3)); len(got) != 1 {
				t.Errorf("in memory: %q", got)
			}
			h.Close()
		})
	}
}

func pipe(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A kernel that was stopped while it held the lock does not block others.
func TestLockIsHeld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	other := flock.New(path + ".lock")
	if ok, err := other.TryLock(); !ok {
		t.Fatal(err)
	}
	h := Open(path, func(err error) { t.Error(err) })
	h.Add(1, "x", "")
	if got := inputs(h.Tail(3)); len(got) != 1 {
		t.Errorf("in memory: %q", got)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	<-h.writer.opened
	h.writer.timeout = time.Minute
	h.Close()
	if got := inputs(reopen(t, path).Tail(3)); len(got) != 1 {
		t.Errorf("in the file: %q", got)
	}
}

// fillVariable makes the test binary write a history to the named file.
const fillVariable = "TEST_HISTORY_FILL"

func TestMain(m *testing.M) {
	if path := os.Getenv(fillVariable); path != "" {
		fill(path)
	}
	os.Exit(m.Run())
}

// fill writes more than its process may write to a file.
func fill(path string) {
	failures := make(chan error, 1)
	h := openPatiently(path, func(err error) { failures <- err })
	for i := range 10 {
		h.Add(i, strings.Repeat(fmt.Sprint(i), 1000), "")
	}
	h.Close()
	fmt.Println(<-failures)
	os.Exit(0)
}

// On a full disk, the cells that fit are stored completely.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	// A limit of the file size, in blocks of 512 bytes, simulates the full disk.
	cmd := exec.Command("/bin/sh", "-c", `trap '' XFSZ; ulimit -f 8; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), fillVariable+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "file too large") {
		t.Fatalf("%s%v", out, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("%v, the file ends in %q", err, text[max(0, len(text)-20):])
	}
	h := reopen(t, path)
	add(t, h, 1, "later", "")
	h.Close()
	if got := reopen(t, path).Tail(1); len(got) != 1 || got[0].Input != "later" {
		t.Errorf("got %+v", got)
	}
}
