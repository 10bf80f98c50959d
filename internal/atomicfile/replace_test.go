package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/atomicfile"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	put := func(text string, failure error) error {
		return atomicfile.Replace(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return failure
		})
	}
	broken := errors.New("broken")
	for _, step := range []struct {
		text    string
		failure error
		want    string
	}{{"one", nil, "one"}, {"two", broken, "one"}, {"three", nil, "three"}} {
		if err := put(step.text, step.failure); !errors.Is(err, step.failure) {
			t.Errorf("%q: %v", step.text, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != step.want {
			t.Errorf("after %q the file has %q, %v; want %q", step.text, b, err, step.want)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_ = atomicfile.Replace(path, func(io.Writer) error { panic("broken") })
	}()
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Check finds the errors that Replace would return, and changes nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		want string // "" for no error
	}{
		{"new", ""}, {"old", ""}, {filepath.Join("none", "a"), "create "}, {filepath.Join("old", "a"), "create "}, {".", "is a folder"},
	} {
		if err := atomicfile.Check(filepath.Join(folder, row.name)); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
	}
	if err := atomicfile.Check(""); !errors.Is(err, atomicfile.ErrNoPath) {
		t.Error(err)
	}
	left, err := os.ReadDir(folder)
	if b, readErr := os.ReadFile(filepath.Join(folder, "old")); err != nil || len(left) != 1 || readErr != nil || string(b) != "old" {
		t.Errorf("left behind: %v, %v, %q, %v", left, err, b, readErr)
	}
}

// TestPathOfErrors names the path that was asked for, not the temporary file.
func TestPathOfErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	nothing := func(io.Writer) error { return nil }
	for _, path := range []string{filepath.Join(folder, "none", "a"), folder} {
		var failure *fs.PathError
		if err := atomicfile.Replace(path, nothing); !errors.As(err, &failure) || failure.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	path := filepath.Join(folder, "none", "b")
	err := atomicfile.CreateFolder(path, func(_, content string) error { return os.Mkdir(content, 0o755) })
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("folder: %v", err)
	}
	if err := atomicfile.Replace("", nothing); !errors.Is(err, atomicfile.ErrNoPath) {
		t.Errorf("no path: %v", err)
	}
	if err := atomicfile.CreateFolder("", func(_, _ string) error { return nil }); !errors.Is(err, atomicfile.ErrNoPath) {
		t.Errorf("no folder: %v", err)
	}
}
