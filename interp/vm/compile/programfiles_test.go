package compile_test

import (
	"bytes"
	"context"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/interp"
)

// TestProgramFiles runs complete programs as cells. The golden files are the output of the compiled
// programs.
func TestProgramFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		output := strings.TrimSuffix(file, ".go") + ".out"
		if golden.Update() {
			out, err := exec.Command("go", "run", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(output, out, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(build.Default.ReleaseTags, "go1.27") { // the output is of an older release
			want = bytes.ReplaceAll(want, []byte("panic called with nil argument"), []byte("runtime error: panic called with nil argument"))
		}
		var out strings.Builder
		s, err := interp.New(interp.Stdout(&out), interp.Stderr(&out))
		if err != nil {
			t.Fatal(err)
		}
		_, source, _ := strings.Cut(string(text), "package main")
		_, err = s.Execute(context.Background(), 1, source+"\nmain()")
		if err != nil || out.String() != string(want) {
			t.Errorf("%s: %v\n%s", file, err, difference(out.String(), string(want)))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
