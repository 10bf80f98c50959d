package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/types"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

func main() {
	own := flag.Bool("own", false, "only our packages, not the standard library")
	flag.Parse()
	err := generateOwn()
	if err == nil && !*own {
		err = generateStd()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generateStd writes the archives of the standard library and the supplement to yaegi's tables.
func generateStd() error {
	packages, described, err := describeStd(home)
	if err != nil {
		return err
	}
	if err := writeArchive("std.zip", described); err != nil {
		return err
	}
	if err := writeTables("supplement", supplement(packages)); err != nil {
		return err
	}
	for _, t := range others {
		_, there, err := describeStd(t)
		if err != nil {
			return err
		}
		if err := writeArchive(fmt.Sprintf("std_%s_%s.zip", t.os, t.arch), differences(described, there)); err != nil {
			return err
		}
	}
	return nil
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
		if problem := p.problem(); problem != "" {
			return nil, nil, fmt.Errorf("%s on %s: %s", p.ImportPath, t, problem)
		}
		pkg, entry, err := describe(p)
		if err != nil {
			return nil, nil, err
		}
		loaded, described = append(loaded, pkg), append(described, entry)
	}
	return loaded, described, nil
}

// differences drops from the packages what base has too; their names stay.
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

// generateOwn writes the archive and the tables of our packages.
func generateOwn() error {
	packages, err := list(home, ownPatterns...)
	if err != nil {
		return err
	}
	previous, err := readArchive("own.zip")
	if err != nil {
		return err
	}
	var described []archive.Package
	var tables []*table
	for _, p := range packages {
		if !importable(p.ImportPath) || p.Name == "main" {
			continue
		}
		if problem := p.problem(); problem != "" {
			fmt.Printf("left as it was: %s: %s\n", p.ImportPath, problem)
			if p, ok := previous[p.ImportPath]; ok {
				described = append(described, p)
			}
			continue
		}
		pkg, entry, err := describe(p)
		if err != nil {
			return err
		}
		described = append(described, entry)
		if t := newTable(pkg, func(string, string) bool { return true }); !t.empty() {
			tables = append(tables, t)
		}
	}
	if err := writeArchive("own.zip", described); err != nil {
		return err
	}
	return writeTables("own", tables)
}

// describe loads a package and makes its entry of an archive.
func describe(p listed) (*types.Package, archive.Package, error) {
	pkg, err := read(p)
	if err != nil {
		return nil, archive.Package{}, err
	}
	entry := archive.Package{Path: p.ImportPath, Name: p.Name}
	if entry.Types, err = export(pkg); err != nil {
		return nil, archive.Package{}, err
	}
	if entry.Docs, err = docs(p); err != nil {
		return nil, archive.Package{}, err
	}
	return pkg, entry, nil
}

// writeArchive writes the file.
func writeArchive(name string, packages []archive.Package) error {
	var b bytes.Buffer
	if err := archive.Write(&b, version.Lang(runtime.Version()), packages); err != nil {
		return err
	}
	fmt.Printf("%s: %d packages, %d bytes\n", name, len(packages), b.Len())
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// readArchive returns the packages of an archive by path; of none if there is no such file.
func readArchive(name string) (map[string]archive.Package, error) {
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	r, err := archive.NewReader(string(data))
	if err != nil {
		return nil, err
	}
	packages := make(map[string]archive.Package)
	for path, packageName := range r.Names() {
		p := archive.Package{Path: path, Name: packageName}
		if p.Types, err = r.Types(path); err != nil {
			return nil, err
		}
		if p.Docs, err = r.Docs(path); err != nil {
			return nil, err
		}
		packages[path] = p
	}
	return packages, nil
}

// writeTables replaces the generated files of internal/<name>. Tables of packages that could not be loaded now are
// gone then: a table that does not compile would be worse.
func writeTables(name string, tables []*table) error {
	folder := filepath.Join("internal", name)
	old, err := filepath.Glob(filepath.Join(folder, "generated_*.go"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for _, t := range tables {
		source, err := t.source(name, constraints[t.pkg.Path()])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "generated_"+identifier(t.pkg.Path())+".go"), source, 0o644); err != nil {
			return err
		}
	}
	source, err := index(name, tables)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "generated_index.go"), source, 0o644)
}
