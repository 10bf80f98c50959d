package main

import (
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/symbols"

	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// TestFresh compares the API and the documentation in interp/symbols/own with the sources of our packages.
func TestFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("builds our packages")
	}
	packages, err := list(home, compiledIn()...)
	if err != nil {
		t.Fatal(err)
	}
	previous, err := readFolder(filepath.Join("..", "..", "own"))
	if err != nil {
		t.Fatal(err)
	}
	importer := symbols.Importer(token.NewFileSet())
	for _, p := range packages {
		if !describe.Importable(p.ImportPath) || p.Name == "main" {
			continue
		}
		if problem := p.Problem(); problem != "" {
			t.Errorf("%s: %s", p.ImportPath, problem)
			continue
		}
		if _, ok := previous[p.ImportPath]; !ok {
			t.Errorf("%s is not in own: run go run ./internal/generate -own in interp/symbols", p.ImportPath)
			continue
		}
		source, err := describe.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		archived, err := importer.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		text, err := describe.Docs(p)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(previous[p.ImportPath].Docs, text) {
			t.Errorf("the documentation of %s in own is stale: run go run ./internal/generate -own in interp/symbols", p.ImportPath)
		}
		if got, want := api(archived), api(source); got != want {
			t.Errorf("%s in own is stale, run go run ./internal/generate -own in interp/symbols: it has\n%s\nand the source has\n%s", p.ImportPath, got, want)
		}
		delete(previous, p.ImportPath)
	}
	for path := range previous {
		t.Errorf("%s in own no longer exists: run go run ./internal/generate -own in interp/symbols", path)
	}
}

// api returns the exported names of a package, with their types and methods, sorted, one per line.
func api(p *types.Package) string {
	var lines []string
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		lines = append(lines, object.String())
		if _, ok := object.(*types.TypeName); ok {
			methods := types.NewMethodSet(types.NewPointer(object.Type()))
			for m := range methods.Methods() {
				if m.Obj().Exported() {
					lines = append(lines, m.String())
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
