package module_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/interp/module"
)

// newWorkspace writes the files of an archive and returns their directory, which is the working
// directory of the test.
func newWorkspace(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// released are the modules of a proxy.
var released = map[string]string{
	"example.com/dep@v1.0.0/go.mod":  "module example.com/dep\n\ngo 1.20\n",
	"example.com/dep@v1.0.0/dep.go":  "package dep\n",
	"example.com/dep@v1.2.0/go.mod":  "module example.com/dep\n\ngo 1.20\n",
	"example.com/dep@v1.2.0/dep.go":  "package dep\n",
	"example.com/fork@v1.1.0/go.mod": "module example.com/dep\n\ngo 1.20\n",
	"example.com/fork@v1.1.0/dep.go": "package dep\n",
	"example.com/old@v1.0.0/go.mod":  "module example.com/old\n\nrequire example.com/dep v1.2.0\n",
	"example.com/old@v1.0.0/old.go":  "package old\n",
}

// TestWorkspace finds packages as the go command does in the same files.
func TestWorkspace(t *testing.T) {
	for _, row := range []struct{ name, files, path, want string }{
		{"main module", "-- go.mod --\nmodule example.com/m\n-- a/a.go --\npackage a\n", "example.com/m/a", "a"},
		{"without a dot", "-- go.mod --\nmodule m\n-- a/a.go --\npackage a\n", "m/a", "a"},
		{"no such package", "-- go.mod --\nmodule example.com/m\n", "example.com/m/a", ""},
		{"directory without Go files", "-- go.mod --\nmodule example.com/m\n-- a/a.txt --\n", "example.com/m/a", ""},
		{"requirement", "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\n", "example.com/dep", "example.com/dep@v1.0.0"},
		{"highest requirement", "-- go.mod --\nmodule example.com/m\nrequire example.com/old v1.0.0\nrequire example.com/dep v1.0.0\n", "example.com/dep", "example.com/dep@v1.2.0"},
		{"only what go.mod names since Go 1.17", "-- go.mod --\nmodule example.com/m\ngo 1.17\nrequire example.com/old v1.0.0\nrequire example.com/dep v1.0.0\n", "example.com/dep", "example.com/dep@v1.0.0"},
		{"exclude", "-- go.mod --\nmodule example.com/m\nrequire example.com/old v1.0.0\nrequire example.com/dep v1.0.0\nexclude example.com/dep v1.2.0\n", "example.com/dep", "example.com/dep@v1.0.0"},
		{"replace by a directory", "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\nreplace example.com/dep => ./here\n-- here/go.mod --\nmodule example.com/dep\n-- here/dep.go --\npackage dep\n", "example.com/dep", "here"},
		{"replace by a module", "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\nreplace example.com/dep v1.0.0 => example.com/fork v1.1.0\n", "example.com/dep", "example.com/fork@v1.1.0"},
		{"replace another version", "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\nreplace example.com/dep v1.2.0 => example.com/fork v1.1.0\n", "example.com/dep", "example.com/dep@v1.0.0"},
		{"workspace", "-- go.work --\ngo 1.25\nuse ./x\nuse ./y\n-- x/go.mod --\nmodule example.com/x\n-- y/go.mod --\nmodule example.com/y\n-- y/b/b.go --\npackage b\n", "example.com/y/b", "y/b"},
		{"the longest path", "-- go.work --\nuse ./x\nuse ./y\n-- x/go.mod --\nmodule example.com/x\n-- x/y/b.go --\npackage b\n-- y/go.mod --\nmodule example.com/x/y\n-- y/b.go --\npackage b\n", "example.com/x/y", "y"},
		{"go.work before go.mod", "-- go.work --\nuse ./x\nreplace example.com/dep => ./two\n-- x/go.mod --\nmodule example.com/x\nrequire example.com/dep v1.0.0\nreplace example.com/dep => ../one\n-- one/go.mod --\nmodule example.com/dep\n-- one/a.go --\npackage dep\n-- two/go.mod --\nmodule example.com/dep\n-- two/a.go --\npackage dep\n", "example.com/dep", "two"},
		{"vendor", "-- go.mod --\nmodule example.com/m\ngo 1.20\nrequire example.com/dep v1.0.0\n-- vendor/modules.txt --\n-- vendor/example.com/dep/dep.go --\npackage dep\n", "example.com/dep", "vendor/example.com/dep"},
		{"nothing around", "-- a.txt --\n", "example.com/dep", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t, released)
			dir := newWorkspace(t, row.files)
			p, ok, err := module.New(r).Find(context.Background(), row.path)
			if err != nil && !errors.As(err, new(*module.PackageError)) || ok != (row.want != "") {
				t.Fatalf("found: %v, %v", ok, err)
			}
			want := filepath.Join(dir, filepath.FromSlash(row.want))
			if strings.Contains(row.want, "@") {
				want = filepath.Join(r.root, filepath.FromSlash(row.want))
			}
			if ok && p.Dir != want {
				t.Errorf("the package is in %s, want %s", p.Dir, want)
			}
			if ok && (p.Stamp == "") != strings.Contains(row.want, "@") {
				t.Errorf("the stamp is %q", p.Stamp)
			}
		})
	}
}

// TestWorkspaceErrors checks the errors for wrong files around a notebook.
func TestWorkspaceErrors(t *testing.T) {
	for _, row := range []struct{ name, files, want string }{
		{"newer Go", "-- go.mod --\nmodule example.com/m\ngo 1.99\n", "go.mod:2: it needs Go 1.99, but cells run with go"},
		{"newer Go in go.work", "-- go.work --\ngo 1.99\n", "go.work:1: it needs Go 1.99"},
		{"no module line", "-- go.mod --\ngo 1.20\n", "has no module line"},
		{"syntax", "-- go.mod --\nmodule example.com/m\nrequire (\n", "go.mod:2"},
		{"missing module of go.work", "-- go.work --\nuse ./x\n", filepath.Join("x", "go.mod")},
		{"checksum", "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\n-- go.sum --\nexample.com/dep v1.0.0 h1:AAAA=\n", "example.com/dep@v1.0.0: checksum mismatch"},
		{"missing version", "-- go.mod --\nmodule example.com/m\ngo 1.20\nrequire example.com/dep v1.7.0\n", "v1.7.0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t, released)
			newWorkspace(t, row.files)
			_, _, err := module.New(r).Find(context.Background(), "example.com/dep")
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

// TestWorkspaceChanges reads go.mod again when it has changed, and looks for it in the directory to
// which a cell has gone.
func TestWorkspaceChanges(t *testing.T) {
	s := module.New(newRegistry(t, released))
	dir := newWorkspace(t, "-- go.mod --\nmodule example.com/m\nrequire example.com/dep v1.0.0\n-- sub/a/a.go --\npackage a\n")
	version := func() string {
		s.Begin()
		p, _, err := s.Find(context.Background(), "example.com/dep")
		if err != nil {
			t.Fatal(err)
		}
		return p.Module.Version
	}
	if got := version(); got != "v1.0.0" {
		t.Errorf("first %q", got)
	}
	if err := os.WriteFile("go.mod", []byte("module example.com/m\n\nrequire example.com/dep v1.2.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := version(); got != "v1.2.0" {
		t.Errorf("after a change %q", got)
	}
	t.Chdir(t.TempDir())
	if got := version(); got != "" {
		t.Errorf("in another directory %q", got)
	}
	if path, err := s.Add(filepath.Join(dir, "sub")); err != nil || path != "example.com/m" {
		t.Errorf("added %q, %v", path, err)
	}
	if p, ok, err := s.Find(context.Background(), "example.com/m/sub/a"); !ok || err != nil || p.Dir != filepath.Join(dir, "sub", "a") {
		t.Errorf("got %v, %v, %v", p, ok, err)
	}
}

func TestCheckInternal(t *testing.T) {
	newWorkspace(t, "-- go.mod --\nmodule example.com/m\n")
	s := module.New(newRegistry(t, released))
	for path, ok := range map[string]bool{
		"example.com/m/internal/a":     true,
		"example.com/m/a/internal/b":   false,
		"example.com/other/internal/a": false,
		"example.com/other/internals":  true,
	} {
		err := s.CheckInternal(path)
		if (err == nil) != ok || err != nil && !errors.As(err, new(*module.InternalError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if module.CheckInternal("example.com/other/x", "example.com/other/internal/a") != nil {
		t.Error("a package below the parent may import it")
	}
}
