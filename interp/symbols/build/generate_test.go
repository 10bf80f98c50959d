package build

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/internal/testenv"
)

// write writes the files of an archive into a directory.
func write(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Of a module, the packages that do not compile are left out with the reason. A module of which none compiles, and a
// package that is asked for, are errors.
func TestFind(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		testenv.Missing(t, "%v", err)
	}
	t.Setenv("GOPROXY", "off")
	g := gocommand{dir: t.TempDir()}
	write(t, g.dir, `
-- go.mod --
module quern.program
go 1.26
require (
	example.com/m v1.0.0
	example.com/none v1.0.0
)
replace (
	example.com/m => ./m
	example.com/none => ./none
)
-- m/go.mod --
module example.com/m
go 1.26
-- m/m.go --
package m
func F() int { return 1 }
-- m/undefined/undefined.go --
package undefined
var X = nothing
-- m/missing/missing.go --
package missing
import _ "example.com/elsewhere"
-- m/syntax/syntax.go --
package syntax
func {
-- m/importer/importer.go --
package importer
import "example.com/m/undefined"
var X = undefined.X
-- m/other/other_plan9.go --
package other
-- m/tests/m_test.go --
package tests
-- none/go.mod --
module example.com/none
go 1.26
-- none/none.go --
package none
var X = nothing
`)
	found, omitted, err := g.find(t.Context(), []string{"example.com/m@v1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"example.com/m"}) {
		t.Errorf("found %v", got)
	}
	want := map[string]string{
		"example.com/m/importer":  "m/undefined/undefined.go:2:9: undefined: nothing",
		"example.com/m/missing":   "example.com/elsewhere",
		"example.com/m/syntax":    "m/syntax/syntax.go:2:6",
		"example.com/m/undefined": "m/undefined/undefined.go:2:9: undefined: nothing",
	}
	for _, o := range omitted {
		if text, ok := want[o.Path]; !ok || !strings.Contains(filepath.ToSlash(o.Reason), text) || strings.Contains(o.Reason, "\n") {
			t.Errorf("omitted %s: %q", o.Path, o.Reason)
		}
		delete(want, o.Path)
	}
	if len(want) > 0 {
		t.Errorf("not omitted: %v", want)
	}
	for _, wanted := range []string{"example.com/none@v1.0.0", "example.com/m/undefined@v1.0.0"} {
		if _, _, err := g.find(t.Context(), []string{wanted}); err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
			t.Errorf("%s: %v", wanted, err)
		}
	}
}

// Without a C compiler, the go command silently takes the files for machines without cgo.
func TestWithoutC(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		testenv.Missing(t, "%v", err)
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("CGO_ENABLED", "0")
	g := gocommand{dir: t.TempDir()}
	write(t, g.dir, `
-- go.mod --
module quern.program
go 1.26
require (
	example.com/m v1.0.0
	example.com/c v1.0.0
)
replace (
	example.com/m => ./m
	example.com/c => ./c
)
-- m/go.mod --
module example.com/m
go 1.26
-- m/c.go --
package m
import "C"
func F() int { return 1 }
-- m/other.go --
//go:build !cgo
package m
func F() int { return 0 }
-- m/only/c.go --
package only
import "C"
-- m/pure/pure.go --
package pure
-- c/go.mod --
module example.com/c
go 1.26
-- c/c.go --
package c
import "C"
`)
	_, omitted, err := g.find(t.Context(), []string{"example.com/m@v1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if len(omitted) != 2 || omitted[0].Path != "example.com/m" || !strings.Contains(omitted[0].Reason, "what its authors wrote") ||
		omitted[1].Path != "example.com/m/only" || !strings.Contains(omitted[1].Reason, "it needs cgo") {
		t.Errorf("%+v", omitted)
	}
	if _, _, err := g.find(t.Context(), []string{"example.com/c@v1.0.0"}); err == nil || !strings.Contains(err.Error(), "no C compiler is on PATH") {
		t.Error(err)
	}
}

// Without a network, the latest version is unknown.
func TestOffline(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		testenv.Missing(t, "%v", err)
	}
	t.Setenv("GOPROXY", "off")
	g := gocommand{dir: t.TempDir()}
	for query, want := range map[string]bool{"example.com/m": true, "example.com/m@v1.0.0": false} {
		_, err := g.resolve(t.Context(), []string{query})
		if err == nil || strings.Contains(err.Error(), "name a version that is in the module cache") != want {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestOmitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, list := range [][]Omitted{nil, {{"example.com/m/bad", "undefined: x"}}} {
		if err := writeOmitted(dir, list); err != nil {
			t.Fatal(err)
		}
		if got, err := readOmitted(dir); err != nil || !slices.Equal(got, list) {
			t.Errorf("%v, %v", got, err)
		}
	}
}
