//go:build unix

package atomicfile_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/quernlab/quern/internal/atomicfile"
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

// A mode that is given is that of a new file, of one that replaces another one, and of one that replaces a link, whatever the umask.
func TestModes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := filepath.Join(folder, "target")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(folder, "old")
	if err := os.WriteFile(old, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "new"), old, link} {
		if err := atomicfile.ReplaceLink(path, 0o775, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o775 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(target); err != nil || info.Mode() != 0o600 {
		t.Errorf("the target of the link: mode %v, %v", info.Mode(), err)
	}
}
