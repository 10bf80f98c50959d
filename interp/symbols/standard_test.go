package symbols_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// exampleTime limits the running time of an example. The longest takes a tenth of a second.
const exampleTime = 30 * time.Second

// differs lists examples of the standard library whose output in a cell differs from the compiled output,
// or that cannot run in a cell, with the reasons. A name without an example stands for the whole file. The
// test fails if an entry is no longer needed.
var differs = map[string]string{
	"context/example_test.go":            "uses names of another file",
	"go/doc/example_test.go":             "uses an internal package",
	"log/example_test.go Logger":         "names a file, which is a cell here",
	"log/example_test.go Logger_Output":  "names a file, which is a cell here",
	"log/slog/example_wrap_test.go":      "AddSource of log/slog is refused",
	"net/http/cookiejar/example_test.go": "uses names of another file",
	"os/example_test.go":                 "uses names of another file, since Go 1.27",
	"runtime/example_test.go AddCleanup": endless + "waits for the cleanup of its own variable, which a cell keeps until the function returns",
	"runtime/example_test.go Frames":     "runtime.Callers has other frames in a cell",
	"testing/slogtest/example_test.go":   "testing/slogtest cannot be imported",
}

// endless begins the reasons of examples that are not run.
const endless = "does not end: "

// TestStandardExamples runs the examples of the standard library as cells. Their comments contain the
// expected output.
func TestStandardExamples(t *testing.T) {
	goroot := runtime.GOROOT()
	if goroot == "" { // with -trimpath
		out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		goroot = strings.TrimSpace(string(out))
	}
	root := filepath.Join(goroot, "src")
	files, err := exampleFiles(root)
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files of examples below %s, %v", len(files), root, err)
	}
	pacific, err := time.LoadLocation("US/Pacific") // the time zone of their authors
	if err != nil {
		t.Fatal(err)
	}
	defer func(local *time.Location) { time.Local = local }(time.Local)
	time.Local = pacific
	stdout := capture(t)
	passed := 0
	for _, file := range files {
		t.Run(file, func(t *testing.T) { passed += runExamples(t, root, file, stdout) })
	}
	if passed < 600 {
		t.Errorf("only %d examples ran", passed)
	}
	t.Logf("%d examples", passed)
}

// exampleFiles returns the files with examples that do not need other files, relative to root.
func exampleFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && slices.Contains([]string{"cmd", "internal", "testdata", "vendor"}, name) {
			return fs.SkipDir
		}
		if strings.HasPrefix(name, "example_") && strings.HasSuffix(name, "_test.go") {
			path, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(path))
			return err
		}
		return nil
	})
	return files, err
}

// runExamples runs the examples of a file in one session and returns how many passed.
func runExamples(t *testing.T, root, file string, stdout *output) (passed int) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	examples := slices.DeleteFunc(doc.Examples(parsed), func(e *doc.Example) bool { return e.Output == "" && !e.EmptyOutput })
	if len(examples) == 0 || excluded(parsed) {
		return 0
	}
	t.Chdir(filepath.Join(root, filepath.Dir(file))) // some read files in this folder
	session, err := interp.New(interp.Stdout(os.Stdout), interp.Stderr(os.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	execute := func(number int, cell string) error {
		ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
		defer cancel()
		_, err := session.Execute(ctx, number, cell)
		return err
	}
	text := noExit.Replace(string(source[fset.Position(parsed.Name.End()).Offset:]))
	if known(t, file, execute(1, text)) {
		return 0
	}
	for i, e := range examples {
		t.Run(e.Name, func(t *testing.T) {
			if strings.HasPrefix(differs[file+" "+e.Name], endless) {
				return
			}
			err := execute(i+2, "Example"+e.Name+"()")
			got, want := strings.TrimSpace(stdout.take()), strings.TrimSpace(e.Output)
			want = strings.ReplaceAll(want, parsed.Name.Name+".", "main.") // in names of types
			if e.Unordered {
				got, want = sortLines(got), sortLines(want)
			}
			if err == nil && got != want {
				err = fmt.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if !known(t, file+" "+e.Name, err) {
				passed++
			}
		})
	}
	return passed
}

// known fails the test if err is not nil and not known, or if a known difference has disappeared. It
// reports whether err is not nil.
func known(t *testing.T, name string, err error) bool {
	reason, ok := differs[name]
	switch {
	case ok && err == nil && strings.HasSuffix(reason, ", since Go 1.27") && !slices.Contains(build.Default.ReleaseTags, "go1.27"):
	case ok && err == nil:
		t.Errorf("%s has no difference: remove it from differs", name)
	case ok:
		t.Logf("known: %s", reason)
	case err != nil:
		t.Error(err)
	}
	return err != nil
}

// noExit prevents a failing example from ending the test.
var noExit = strings.NewReplacer("log.Fatal", "log.Panic", "os.Exit(", "panic(")

// excluded reports whether the file has a build constraint.
func excluded(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if comment.Pos() < file.Package && strings.HasPrefix(comment.Text, "//go:build") {
				return true
			}
		}
	}
	return false
}

func sortLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// output collects what is written to os.Stdout.
type output struct {
	pipe *os.File
	text chan string
}

const endMark = "\x00end of the example\x00"

// capture redirects os.Stdout to a pipe until the test ends. Examples write to os.Stdout directly and by
// package fmt.
func capture(t *testing.T) *output {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	o := &output{pipe: w, text: make(chan string)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all bytes.Buffer
		part := make([]byte, 1<<16)
		for {
			n, err := r.Read(part)
			if err != nil {
				return
			}
			all.Write(part[:n])
			if text, _, ok := strings.Cut(all.String(), endMark); ok {
				o.text <- text
				all.Reset()
			}
		}
	}()
	t.Cleanup(func() {
		os.Stdout = stdout
		w.Close()
		<-done
		r.Close()
	})
	return o
}

// take returns what was written since the last call.
func (o *output) take() string {
	if _, err := o.pipe.WriteString(endMark); err != nil {
		return err.Error()
	}
	return <-o.text
}
