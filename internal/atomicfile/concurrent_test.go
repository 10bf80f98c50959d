package atomicfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/testenv"
)

func write(path, text string) error {
	return atomicfile.Replace(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Clean does not remove files that another process is writing.
func TestConcurrentReplace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for n := range 50 {
				if err := write(filepath.Join(folder, fmt.Sprint(i%4)), strings.Repeat(fmt.Sprint(i), 1+n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 4 {
		t.Errorf("left: %v, %v", left, err)
	}
	for i := range 4 {
		b, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(i)))
		if text := string(b); err != nil || strings.Trim(text, text[:1]) != "" {
			t.Errorf("a mixture: %q, %v", text, err)
		}
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		testenv.Missing(t, "%v", err)
	}
	if err := write(link, "new"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "new" {
		t.Errorf("the target has %q, %v", b, err)
	}
}

// Files that only look like temporary files are not removed.
func TestCleanLeavesOtherFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	names := []string{".save-", ".save-my-work", ".save-12x", "save-12", ".save-99999999999999999999"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(filepath.Join(folder, "a"), "x"); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}
