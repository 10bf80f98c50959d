//go:build unix

package atomicfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// The umask applies to a whole process, so the test runs in another one.
func TestUmask(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("UMASK_FILE"); path != "" {
		syscall.Umask(0o077)
		if err := write(path, "x"); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "a")
	cmd := exec.Command(os.Args[0], "-test.run=^TestUmask$")
	cmd.Env = append(os.Environ(), "UMASK_FILE="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
