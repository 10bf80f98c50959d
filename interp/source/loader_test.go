package source

import (
	"context"
	"errors"
	"fmt"
	goimporter "go/importer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/tools/txtar"

	own "github.com/quernlab/quern/interp/module"
)

// modules are packages below a directory, all of one module.
type modules struct {
	dir     string
	version string
	err     error

	mu    sync.Mutex
	found int
	meet  func(importPath string) // called by Find; nil for nothing
}

func (m *modules) Find(_ context.Context, importPath string) (own.Package, bool, error) {
	m.mu.Lock()
	m.found++
	m.mu.Unlock()
	if m.meet != nil {
		m.meet(importPath)
	}
	rest, ok := strings.CutPrefix(importPath, "example.com/m")
	if !ok || m.err != nil {
		return own.Package{}, false, m.err
	}
	dir := filepath.Join(m.dir, filepath.FromSlash(rest))
	if _, err := os.Stat(dir); err != nil {
		return own.Package{}, false, nil
	}
	return own.Package{Module: module.Version{Path: "example.com/m", Version: m.version}, Dir: dir}, true, nil
}

func (*modules) Begin()                     {}
func (*modules) Generation() int            { return 0 }
func (*modules) Local(string) bool          { return false }
func (*modules) CheckInternal(string) error { return nil }

// standard imports the standard library, and checks each package from source once for all tests.
type standard struct {
	mu   sync.Mutex // an importer may be used by one goroutine at a time
	from types.Importer
}

func (s *standard) Import(path string) (*types.Package, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Import(path)
}

var (
	libraryFiles = token.NewFileSet()
	library      = &standard{from: goimporter.ForCompiler(libraryFiles, "source", nil)}
)

// newLoader returns a loader of the packages in a txtar archive.
func newLoader(t *testing.T, text string) (*Loader, *modules) {
	t.Helper()
	m := &modules{dir: t.TempDir(), version: "v1.0.0"}
	for _, f := range txtar.Parse([]byte(text)).Files {
		name := filepath.Join(m.dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return NewLoader(library, libraryFiles, m), m
}

// needed returns what has to run before a cell that imports a package and uses nothing.
func needed(l *Loader, path string) []*Part {
	return l.Needed(Code{Imports: []string{path}, Info: newInfo()})
}

// TestLoad checks which code a session gets from a package, and in which order.
func TestLoad(t *testing.T) {
	t.Parallel()
	l, _ := newLoader(t, `
-- a/a.go --
package apple

import "example.com/m/b"

var second = first + b.Base
var first = 1

type T struct{ n int }

func (T) M() {}
func init() { second++ }
func F() int { return second }
-- a/more.go --
package apple

func init() { second *= 2 }
-- a/a_test.go --
package apple

func init() { undefined() }
-- a/a_other.go --
//go:build ignore

package apple

func init() { undefined() }
-- b/b.go --
package b

const Base = 10
`)
	p, err := l.Import("example.com/m/a")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name() != "apple" || p.Scope().Lookup("F") == nil {
		t.Errorf("got %v", p)
	}
	taken := needed(l, "example.com/m/a")
	var paths []string
	for _, p := range taken {
		paths = append(paths, p.Path)
	}
	if want := []string{"example.com/m/b", "example.com/m/a"}; !slices.Equal(paths, want) {
		t.Fatalf("to run are %v, want %v", paths, want)
	}
	a := taken[1]
	var functions []string
	for _, f := range a.Funcs {
		functions = append(functions, f.Name.Name)
	}
	if want := []string{"initʹ1", "initʹ2"}; !slices.Equal(functions, want) {
		t.Errorf("functions %v, want %v", functions, want)
	}
	if len(a.Init) != 2 || a.Init[0].Lhs[0].Name() != "first" || a.Init[1].Lhs[0].Name() != "second" {
		t.Errorf("initializers %v", a.Init)
	}
	if len(a.Inits) != 2 || len(a.Vars) != 2 || len(a.Specs) != 0 || a.Types != p {
		t.Errorf("got %d inits, %d variables, %d types", len(a.Inits), len(a.Vars), len(a.Specs))
	}
	for _, p := range taken {
		l.Compiled(p)
	}
	if again, err := l.Import("example.com/m/a"); err != nil || again != p || len(needed(l, "example.com/m/a")) != 0 {
		t.Errorf("the second import gives %v, %v", again, err)
	}
	if place := l.fset.Position(a.Funcs[0].Pos()); place.Filename != "example.com/m@v1.0.0/a/a.go" || place.Line != 11 {
		t.Errorf("a function is at %v", place)
	}
}

// TestRefused checks which packages cannot be interpreted, and that the error names the package
// that is at fault.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, files, want string }{
		{"program", "-- x/x.go --\npackage main\n", "package example.com/m/x cannot be interpreted: it is a program"},
		{"embedded file", "-- x/x.go --\npackage x\n\nimport _ \"embed\"\n\n//go:embed none.txt\nvar text string\n", "x/x.go:6:5: pattern none.txt: no matching files found"},
		{"directive above a function", "-- x/x.go --\npackage x\n\nimport _ \"embed\"\n\n//go:embed x.go\nfunc f() {}\n", "misplaced go:embed"},
		{"embedded with a value", "-- x/x.go --\npackage x\n\nimport _ \"embed\"\n\n//go:embed x.go\nvar a = 1\n", "one variable without an initial value"},
		{"no body", "-- x/x.go --\npackage x\n\nfunc add(a, b int) int\n", "example.com/m@v1.0.0/x/x.go:3:1: the function add has no body in Go"},
		{"cgo", "-- x/x.go --\npackage x\n\nimport \"C\"\n", "all its files are for cgo or for other systems"},
		{"no file", "-- x/x.txt --\n", "it has no Go files"},
		{"two packages", "-- x/x.go --\npackage x\n-- x/y.go --\npackage y\n", "found packages x (x.go) and y (y.go)"},
		{"syntax", "-- x/x.go --\npackage x\n\nvar = 1\n", "x/x.go:3:5: expected 'IDENT'"},
		{"type", "-- x/x.go --\npackage x\n\nvar a int = \"text\"\n", "x/x.go:3:13: cannot use \"text\""},
		{"cycle", "-- x/x.go --\npackage x\n\nimport _ \"example.com/m/y\"\n-- y/y.go --\npackage y\n\nimport _ \"example.com/m/x\"\n", "package example.com/m/x cannot be interpreted: import cycle: "},
		{"what it imports", "-- x/x.go --\npackage x\n\nimport _ \"example.com/m/y\"\n-- y/y.go --\npackage main\n", "package example.com/m/y cannot be interpreted: it is a program"},
		{"unknown import", "-- x/x.go --\npackage x\n\nimport _ \"example.com/other\"\n", "example.com/other"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l, m := newLoader(t, row.files)
			_, err := l.Import("example.com/m/x")
			var refused *Error
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
			if len(l.loading) != 0 || slices.ContainsFunc(needed(l, "example.com/m/x"), func(p *Part) bool { return p.Path == "example.com/m/x" }) {
				t.Error("it is to be run")
			}
			found := m.found
			if _, again := l.Import("example.com/m/x"); again == nil || again.Error() != err.Error() || m.found != found {
				t.Errorf("the second import gives %v", again)
			}
			l.Begin(t.Context())
			if _, again := l.Import("example.com/m/x"); again == nil || m.found == found {
				t.Errorf("another cell gets %v without a look", again)
			}
		})
	}
}

// TestFind checks two errors: for a package that no module has, Import returns the error of the
// importer of compiled packages; if the search in the modules fails, it returns that error.
func TestFind(t *testing.T) {
	t.Parallel()
	l, m := newLoader(t, "")
	if p, err := l.Import("strings"); err != nil || p.Path() != "strings" || m.found != 0 {
		t.Errorf("strings: %v, %v", p, err)
	}
	_, want := l.compiled.Import("example.com/other")
	if _, err := l.Import("example.com/other"); err == nil || err.Error() != want.Error() {
		t.Errorf("got %v, want %v", err, want)
	}
	m.err = errors.New("the proxy is not reachable")
	if _, err := l.Import("example.com/m/x"); !errors.Is(err, m.err) {
		t.Errorf("got %v", err)
	}
}

// TestLoadAgain checks when a package is loaded a second time: when its
// initialization failed, and when its module has another version.
func TestLoadAgain(t *testing.T) {
	t.Parallel()
	l, m := newLoader(t, "-- x/x.go --\npackage x\n")
	first, err := l.Import("example.com/m/x")
	if err != nil {
		t.Fatal(err)
	}
	l.Drop(needed(l, "example.com/m/x"))
	second, err := l.Import("example.com/m/x")
	if err != nil || second == first {
		t.Errorf("after Drop it is %v, %v", second, err)
	}
	m.version = "v2.0.0"
	third, err := l.Import("example.com/m/x")
	if err != nil || third == second || len(needed(l, "example.com/m/x")) != 1 {
		t.Errorf("of another version it is %v, %v", third, err)
	}
}

// TestDiamonds checks that packages with many paths to their imports are compared with their files once a cell.
func TestDiamonds(t *testing.T) {
	t.Parallel()
	const levels = 12
	var text strings.Builder
	for i := range levels {
		for _, side := range []string{"l", "r"} {
			fmt.Fprintf(&text, "-- %s%d/x.go --\npackage x\n", side, i)
			if i+1 < levels {
				fmt.Fprintf(&text, "import (\n_ \"example.com/m/l%d\"\n_ \"example.com/m/r%[1]d\"\n)\n", i+1)
			}
		}
	}
	l, m := newLoader(t, text.String())
	for range 2 {
		l.Begin(t.Context())
		m.found = 0
		if _, err := l.Import("example.com/m/l0"); err != nil {
			t.Fatal(err)
		}
		if most := 12 * levels; m.found > most {
			t.Errorf("%d searches for %d packages, want at most %d", m.found, 2*levels, most)
		}
	}
}

// TestReadAhead checks that the imports of a package are searched at once, since each may
// be a download, and that the order in which it runs is as before.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	l, m := newLoader(t, `
-- a/a.go --
package a

import (
	_ "example.com/m/c"
	_ "example.com/m/b"
	_ "example.com/m/d"
)

var A = new(int)
-- b/b.go --
package b

import _ "example.com/m/d"
-- c/c.go --
package c

import _ "example.com/m/d"
-- d/d.go --
package d
`)
	var together sync.WaitGroup
	together.Add(2)
	var mu sync.Mutex
	met := map[string]bool{}
	m.meet = func(importPath string) {
		mu.Lock()
		first := !met[importPath]
		met[importPath] = true
		mu.Unlock()
		if first && (strings.HasSuffix(importPath, "/b") || strings.HasSuffix(importPath, "/c")) {
			together.Done()
			together.Wait() // forever, if the other one comes later
		}
	}
	if _, err := l.Import("example.com/m/a"); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, p := range needed(l, "example.com/m/a") {
		order = append(order, p.Path[len("example.com/m/"):])
	}
	if got := strings.Join(order, " "); got != "d c b a" {
		t.Errorf("they run in the order %s", got)
	}
}
