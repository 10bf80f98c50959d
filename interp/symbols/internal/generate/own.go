package main

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// generateOwn writes the folder and the symbol tables of our packages. A package that does not compile
// keeps its files.
func generateOwn() error {
	packages, err := list(home, compiledIn()...)
	if err != nil {
		return err
	}
	previous, err := readFolder("own")
	if err != nil {
		return err
	}
	var described []archive.Package
	var files []tableFile
	aliased := make(aliasedTypes)
	for _, p := range packages {
		if !describe.Importable(p.ImportPath) || p.Name == "main" {
			continue
		}
		if problem := p.Problem(); problem != "" {
			problem, _, _ = strings.Cut(strings.TrimSpace(problem), "\n")
			fmt.Printf("files kept: %s: %s\n", p.ImportPath, problem)
			if p, ok := previous[p.ImportPath]; ok {
				pkg, err := gcexportdata.Read(bytes.NewReader(p.Types), token.NewFileSet(), make(map[string]*types.Package), p.Path)
				if err != nil {
					return fmt.Errorf("types of %s in own: %w", p.Path, err)
				}
				aliased.add(pkg)
				described = append(described, p)
				files = append(files, tableFile{path: p.Path, name: p.Name})
			}
			continue
		}
		pkg, entry, err := describe.Describe(p)
		if err != nil {
			return err
		}
		described = append(described, entry)
		aliased.add(pkg)
		if t := describe.NewTable(pkg, func(string, string) bool { return true }); !t.Empty() {
			source, err := t.Source("own", "")
			if err != nil {
				return err
			}
			files = append(files, tableFile{path: p.ImportPath, name: p.Name, source: source})
		}
	}
	entries, err := aliased.describe()
	if err != nil {
		return err
	}
	if err := archive.WriteFolder("own", append(described, entries...)); err != nil {
		return err
	}
	return writeTables(filepath.Join("internal", "own"), "", files)
}

// aliasedTypes are types of internal packages for which a public package declares an alias, by path and
// name. The documentation of their methods is looked up by the internal path.
type aliasedTypes map[string]map[string]bool

// add adds the aliased types among the exported names of a package.
func (h aliasedTypes) add(pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !object.Exported() || !object.IsAlias() {
			continue
		}
		named, ok := types.Unalias(object.Type()).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), module) {
			continue
		}
		if path := named.Obj().Pkg().Path(); !describe.Importable(path) {
			if h[path] == nil {
				h[path] = make(map[string]bool)
			}
			h[path][named.Obj().Name()] = true
		}
	}
}

// describe returns entries with only the documentation of the types.
func (h aliasedTypes) describe() ([]archive.Package, error) {
	if len(h) == 0 {
		return nil, nil
	}
	packages, err := list(home, slices.Sorted(maps.Keys(h))...)
	if err != nil {
		return nil, err
	}
	var entries []archive.Package
	for _, p := range packages {
		all, err := describe.Docs(p)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(all, func(name, _ string) bool {
			typeName, _, _ := strings.Cut(name, ".")
			return !h[p.ImportPath][typeName]
		})
		entries = append(entries, archive.Package{Path: p.ImportPath, Docs: all})
	}
	return entries, nil
}
