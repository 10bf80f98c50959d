package interp_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/module"
)

// newFileProxy writes a module proxy with the modules of an archive, whose files are named module@version/file, and returns
// its address.
func newFileProxy(t *testing.T, archive string) string {
	t.Helper()
	root, sources := t.TempDir(), t.TempDir()
	writeFiles(t, sources, archive)
	versions := map[xmodule.Version]string{} // with the text of go.mod
	for _, f := range txtar.Parse([]byte(archive)).Files {
		at := strings.Index(f.Name, "@")
		version, file, _ := strings.Cut(f.Name[at+1:], "/")
		if file == "go.mod" {
			versions[xmodule.Version{Path: f.Name[:at], Version: version}] = string(f.Data)
		}
	}
	for m, mod := range versions {
		dir := filepath.Join(root, filepath.FromSlash(m.Path), "@v")
		writeFiles(t, dir, "-- "+m.Version+".mod --\n"+mod+"-- "+m.Version+".info --\n{\"Version\":\""+m.Version+"\"}\n")
		list, err := os.OpenFile(filepath.Join(dir, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := list.WriteString(m.Version + "\n"); err != nil {
			t.Fatal(err)
		}
		if err := list.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(dir, m.Version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromDir(file, m, filepath.Join(sources, filepath.FromSlash(m.String()))); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(root)
}

const invalidModules = `
-- example.com/good@v1.0.0/go.mod --
module example.com/good

go 1.20
-- example.com/good@v1.0.0/good.go --
package good

const V = "v1.0.0"

var N int
-- example.com/good@v1.1.0/go.mod --
module example.com/good

go 1.20

retract v1.0.0 // it is wrong
-- example.com/good@v1.1.0/good.go --
package good

const V = "v1.1.0"

var N int
-- example.com/newer@v1.0.0/go.mod --
module example.com/newer

go 1.99
-- example.com/newer@v1.0.0/newer.go --
package newer
-- example.com/needsnewer@v1.0.0/go.mod --
module example.com/needsnewer

go 1.20

require (
	example.com/good v1.1.0
	example.com/newer v1.0.0
)
-- example.com/needsnewer@v1.0.0/x.go --
package needsnewer

import _ "example.com/newer"
-- example.com/needsmissing@v1.0.0/go.mod --
module example.com/needsmissing

go 1.20

require (
	example.com/good v1.1.0
	example.com/missing v1.0.0
)
-- example.com/needsmissing@v1.0.0/x.go --
package needsmissing

import "example.com/missing"

const X = missing.X
-- example.com/cgo@v1.0.0/go.mod --
module example.com/cgo

go 1.20
-- example.com/cgo@v1.0.0/cgo.go --
package cgo

// int f(void) { return 1; }
import "C"

func F() int { return int(C.f()) }
`

// TestInvalidModules says what a session does with modules that cannot be used: the cell fails with the reason, the module
// is not added, and neither are the versions that it requires of modules that are in use.
func TestInvalidModules(t *testing.T) {
	proxy := newFileProxy(t, invalidModules)
	sources := map[string]func() module.Source{
		"go command": func() module.Source { return module.GoCommand{} },
		"proxy":      func() module.Source { return module.NewProxy() },
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOPROXY", proxy)
			t.Setenv("GOSUMDB", "off")
			t.Setenv("GOTOOLCHAIN", "local")
			t.Setenv("GOFLAGS", "-modcacherw")
			t.Setenv("GOMODCACHE", filepath.Join(t.TempDir(), "mod"))
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Chdir(t.TempDir())
			n := newNotebook(t, interp.Modules(source()))
			n.must(t, "%get example.com/good@v1.0.0\nimport \"example.com/good\"\ngood.N++\nfunc v() string { return good.V }\ngood.V",
				"example.com/good v1.0.0; warning: this version is retracted: it is wrong\n= \"v1.0.0\"")
			for _, row := range []struct{ cell, want string }{
				{"%get example.com/newer", "%get example.com/newer: example.com/newer@v1.0.0/go.mod:3: it needs Go 1.99, but cells run with go1."},
				{"%get example.com/needsnewer\nimport \"example.com/needsnewer\"", "1.99"},
				{"needsnewer.X", "undefined: needsnewer"},
				{"import \"example.com/needsnewer\"", "add the line %get example.com/needsnewer"},
				{"%get example.com/needsmissing\nimport \"example.com/needsmissing\"", "x.go:3:8: could not import example.com/missing (example.com/missing@v1.0.0: "},
				{"needsmissing.X", "undefined: needsmissing"},
				{"%get example.com/nowhere", "%get example.com/nowhere: "},
				{"%get example.com/good@v1.1.0\n%get example.com/nowhere", "%get example.com/nowhere: "},
				{"%get example.com/good@v1.1.0\nundefined", "undefined: undefined"},
				{"%get example.com/cgo\nimport \"example.com/cgo\"\ncgo.F()", "all its files are for cgo or for other systems; with Go installed, %get -compiled example.com/cgo builds a worker with it"},
				{"cgo.F()", "undefined: cgo"},
			} {
				if got := n.run(row.cell); !strings.Contains(got, "! compile error: ") || !strings.Contains(got, row.want) {
					t.Errorf("%q\n got %s\nwant %s", row.cell, got, row.want)
				}
				n.must(t, "v(), good.V, good.N", "= \"v1.0.0\", \"v1.0.0\", 1")
			}
			n.must(t, "%get example.com/good@v1.1.0\nv(), good.V", "example.com/good v1.1.0\n= \"v1.1.0\", \"v1.1.0\"")

			t.Setenv("GOPROXY", "http://127.0.0.1:1") // nothing listens there
			n = newNotebook(t, interp.Modules(source()))
			n.must(t, "%get example.com/good@v1.0.0\nimport \"example.com/good\"\ngood.V", "example.com/good v1.0.0\n= \"v1.0.0\"")
			for _, cell := range []string{"%get example.com/good", "%get example.com/other@v1.0.0"} {
				if got := n.run(cell); !strings.Contains(got, cell) || !strings.Contains(got, "connection refused") {
					t.Errorf("%s: %s", cell, got)
				}
				n.must(t, "good.V", "= \"v1.0.0\"")
			}
		})
	}
}

// TestChecksumMismatch says that a module whose files are not those of go.sum is not imported.
func TestChecksumMismatch(t *testing.T) {
	t.Setenv("GOPROXY", newFileProxy(t, invalidModules))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	t.Chdir(dir)
	writeFiles(t, dir, `
-- go.mod --
module example.com/app

go 1.20

require example.com/good v1.1.0
-- go.sum --
example.com/good v1.1.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
-- use/use.go --
package use

import "example.com/good"

const V = good.V
`)
	n := newNotebook(t, interp.Modules(module.NewProxy()))
	for _, cell := range []string{"import \"example.com/good\"\ngood.V", "import \"example.com/app/use\"\nuse.V", "%get example.com/good@v1.1.0"} {
		if got := n.run(cell); !strings.Contains(got, "example.com/good@v1.1.0: checksum mismatch: it has h1:") {
			t.Errorf("%s: %s", cell, got)
		}
	}
	n.must(t, "1 + 1", "= 2")
}

// TestInvalidLocalPackages says that a package of the notebook's module that cannot be imported leaves nothing behind, and
// can be imported once it is right.
func TestInvalidLocalPackages(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeFiles(t, dir, `
-- go.mod --
module example.com/app

go 1.25
-- a/a.go --
package a

import "example.com/app/b"

var X = b.X
-- b/b.go --
package b

import "example.com/app/c"

var X = c.X
-- c/c.go --
package c

import "example.com/app/a"

var X = a.X
-- half/half.go --
package half

func F() int {
`)
	n := newNotebook(t, modules(t, nil))
	for _, row := range []struct{ cell, want string }{
		{"import \"example.com/app/a\"\na.X", "import cycle: example.com/app/a imports example.com/app/b imports example.com/app/c imports example.com/app/a"},
		{"import \"example.com/app/half\"\nhalf.F()", "half/half.go:3:16: expected '}', found 'EOF'"},
		{"half.F()", "undefined: half"},
	} {
		if got := filepath.ToSlash(n.run(row.cell)); !strings.Contains(got, row.want) {
			t.Errorf("%q\n got %s\nwant %s", row.cell, got, row.want)
		}
		n.must(t, "1 + 1", "= 2")
	}
	writeFiles(t, dir, "-- c/c.go --\npackage c\n\nvar X = 5\n-- half/half.go --\npackage half\n\nfunc F() int { return 6 }\n")
	n.must(t, "import (\n\t\"example.com/app/a\"\n\t\"example.com/app/half\"\n)\na.X, half.F()", "= 5, 6")
}

// TestCompiledBeforeRestart says that an import of a module that is compiled into the next worker asks for the restart, also in
// the cell with %get -compiled.
func TestCompiledBeforeRestart(t *testing.T) {
	build := func(_ context.Context, packages []string, _ func(string)) (interp.Program, error) {
		return interp.Program{Path: "quern", Packages: []string{packages[0] + "@v1.0.0"}, Go: runtime.Version()}, nil
	}
	n := newNotebook(t, modules(t, nil), interp.Build(build))
	for _, cell := range []string{
		"%get -compiled example.com/cgo\nimport \"example.com/cgo\"\ncgo.F()",
		"import \"example.com/cgo\"",
		"import _ \"example.com/cgo/sub\"",
	} {
		if got := n.run(cell); !strings.Contains(got, "it is compiled into a worker that has not started yet: run %restart in a cell") {
			t.Errorf("%s: %s", cell, got)
		}
	}
	if got := n.run("import \"example.com/cgo2\""); !strings.Contains(got, "add the line %get example.com/cgo2") {
		t.Error(got)
	}
}
