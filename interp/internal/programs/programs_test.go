package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/internal/harness"
	"github.com/quernlab/quern/interp/symbols"
)

// limit is how long one cell may take. The slowest takes a second on a slow machine, and more than 30 on a busy one.
const limit = 5 * time.Minute

// TestPrograms runs each program as several sequences of cells. All must print
// what the compiled program prints.
func TestPrograms(t *testing.T) {
	for _, file := range testdata(t, "*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]byte{}
			for _, f := range archive.Files {
				want[f.Name] = f.Data
			}
			var mu sync.Mutex // guards want while the outputs are regenerated
			t.Run("all", func(t *testing.T) {
				for _, f := range archive.Files {
					name, ok := strings.CutSuffix(f.Name, ".go")
					if !ok {
						continue
					}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						out := want[name+".out"]
						if golden.Update() {
							out = compiled(t, f.Data)
							mu.Lock()
							want[name+".out"] = out
							mu.Unlock()
						}
						try(t, f.Name, string(f.Data), string(out))
					})
				}
			})
			if golden.Update() {
				write(t, file, archive, want)
			}
		})
	}
}

// testdata returns the files that this release of Go can run. A file whose name begins with a release, such as go1.27, needs
// that release or a later one.
func testdata(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		needed := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		return version.IsValid(needed) && version.Compare(needed, symbols.Release()) > 0
	})
}

// write writes an archive with the output of each program after the program.
func write(t *testing.T, file string, archive *txtar.Archive, outputs map[string][]byte) {
	t.Helper()
	files := archive.Files
	archive.Files = nil
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name, ".go"); ok {
			name += ".out"
			archive.Files = append(archive.Files, f, txtar.File{Name: name, Data: outputs[name]})
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

// compiled returns what the compiled program prints.
func compiled(t *testing.T, source []byte) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, source, 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", "run", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run: %v\n%s%s", err, out, &stderr)
	}
	return out
}

// recordedWith is the oldest supported release of Go, which prints the recorded outputs.
const recordedWith = "go1.26"

// try runs all splits of a program.
func try(t *testing.T, name, source, want string) {
	fset := token.NewFileSet()
	program, err := Parse(name, source, symbols.Importer(fset), fset)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string][]string{} // names of splits by their output
	splits := program.Splits()
	if raceEnabled { // which makes it slow
		splits = splits[:1]
	}
	for _, c := range splits {
		if got := run(t, c.Cells); got != want {
			wrong[got] = append(wrong[got], c.Name)
		}
	}
	if len(wrong) > 0 && symbols.Release() != recordedWith {
		want = string(compiled(t, []byte(source))) // which may differ between releases
		delete(wrong, want)
	}
	for got, names := range wrong {
		t.Errorf("as %s:\n%s", strings.Join(names, ", "), diff.Diff("compiled", []byte(want), "cells", []byte(got)))
	}
}

// run returns what the cells print. It ignores errors that the session shows because a
// cell did not use them. A cell that does not compile is joined with the next one, since it
// may need the declarations of that cell.
func run(t *testing.T, cells []string) string {
	t.Helper()
	var out buffer
	s, err := interp.New(interp.Stdout(&out), interp.Stderr(&out), interp.Stdin(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	carried := ""
	for i, src := range cells {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_, err := s.Execute(ctx, i+1, carried+src)
		cancel()
		var failure *interp.Error
		switch {
		case err == nil || errors.As(err, &failure) && failure.Name == "error":
			carried = ""
		case failure != nil && failure.Name == "compile error" && i+1 < len(cells):
			carried += src + "\n"
		default:
			fmt.Fprintf(&out, "! %v\n", err)
			return out.String()
		}
	}
	return harness.WithoutNotes(out.String())
}

// buffer collects the output of cells. Its methods may be called from any goroutine.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// take returns what was written since the previous call.
func (b *buffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.String()
	b.text.Reset()
	return text
}
