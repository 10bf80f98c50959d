package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
