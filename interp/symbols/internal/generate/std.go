package main

import (
	"bytes"
	"fmt"
	"go/types"
	"maps"
	"os"
	"reflect"

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
	"github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// generateStd writes the folder of the Go release that runs it: the archives of the standard library, and
// the symbols that yaegi's tables lack.
func generateStd() error {
	r, err := running()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.folder(), 0o755); err != nil {
		return err
	}
	packages, described, err := describeStd(home)
	if err != nil {
		return err
	}
	if err := writeArchive(r.path(standardArchive), described); err != nil {
		return err
	}
	var files []tableFile
	for _, t := range supplement(packages) {
		source, err := t.Source(r.name(), r.constraint())
		if err != nil {
			return err
		}
		files = append(files, tableFile{path: t.Package.Path(), name: t.Package.Name(), source: source})
	}
	if err := writeTables(r.folder(), r.constraint(), files); err != nil {
		return err
	}
	for _, t := range others {
		_, there, err := describeStd(t)
		if err != nil {
			return err
		}
		if err := writeArchive(r.path(t.archive()), differences(described, there)); err != nil {
			return err
		}
	}
	if err := r.writeEmbedding(); err != nil {
		return err
	}
	return writeSelection()
}

// describeStd loads the standard library of a platform.
func describeStd(t target) ([]*types.Package, []archive.Package, error) {
	packages, err := list(t, "std")
	if err != nil {
		return nil, nil, err
	}
	var loaded []*types.Package
	var described []archive.Package
	for _, p := range packages {
		if !suitable(p.ImportPath) {
			continue
		}
		if problem := p.Problem(); problem != "" {
			return nil, nil, fmt.Errorf("%s on %s: %s", p.ImportPath, t, problem)
		}
		pkg, entry, err := describe.Describe(p)
		if err != nil {
			return nil, nil, err
		}
		loaded, described = append(loaded, pkg), append(described, entry)
	}
	return loaded, described, nil
}

// differences removes types and documentation that are the same in base. All names remain.
func differences(base, packages []archive.Package) []archive.Package {
	byPath := make(map[string]archive.Package)
	for _, p := range base {
		byPath[p.Path] = p
	}
	var different []archive.Package
	for _, p := range packages {
		b := byPath[p.Path]
		if bytes.Equal(p.Types, b.Types) {
			p.Types = nil
		}
		if maps.Equal(p.Docs, b.Docs) {
			p.Docs = nil
		}
		different = append(different, p)
	}
	return different
}

// yaegiTables merges the symbol tables of yaegi.
func yaegiTables() map[string]map[string]reflect.Value {
	merged := make(map[string]map[string]reflect.Value)
	for _, tables := range []map[string]map[string]reflect.Value{stdlib.Symbols, syscall.Symbols, unsafe.Symbols, unrestricted.Symbols} {
		for key, table := range tables {
			if merged[key] == nil {
				merged[key] = make(map[string]reflect.Value)
			}
			maps.Copy(merged[key], table)
		}
	}
	return merged
}

// supplement returns tables of the symbols that yaegi's tables lack: new packages and new names.
func supplement(packages []*types.Package) []*describe.Table {
	have := yaegiTables()
	var tables []*describe.Table
	for _, pkg := range packages {
		if pkg == types.Unsafe || pkg.Path() == "syscall" { // complete in yaegi; syscall differs on each platform
			continue
		}
		t := describe.NewTable(pkg, func(key, name string) bool {
			_, ok := have[key][name]
			return !ok
		})
		if !t.Empty() {
			fmt.Printf("%s: %d names\n", pkg.Path(), len(t.Values)+len(t.Types))
			tables = append(tables, t)
		}
	}
	return tables
}
