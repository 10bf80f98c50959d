package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/version"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// writeArchive writes an archive to a file.
func writeArchive(name string, packages []archive.Package) error {
	var b bytes.Buffer
	if err := archive.Write(&b, version.Lang(runtime.Version()), packages); err != nil {
		return err
	}
	fmt.Printf("%s: %d packages, %d bytes\n", name, len(packages), b.Len())
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// readFolder returns the packages of a folder by path; none if the folder does not exist.
func readFolder(name string) (map[string]archive.Package, error) {
	f, err := archive.OpenFolder(os.DirFS(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	packages := make(map[string]archive.Package)
	for path, packageName := range f.Names() {
		p := archive.Package{Path: path, Name: packageName}
		if p.Types, err = f.Types(path); err != nil {
			return nil, err
		}
		if p.Docs, err = f.Docs(path); err != nil {
			return nil, err
		}
		packages[path] = p
	}
	return packages, nil
}

// tableFile is the generated file with the table of a package.
type tableFile struct {
	path, name string // of the package
	source     []byte // nil: keep the file of an earlier run
}

func (f tableFile) file() string { return "generated_" + describe.Identifier(f.path) + ".go" }

// writeTables writes the generated files of a folder and removes others. constraint is the build constraint
// of the index.
func writeTables(folder, constraint string, files []tableFile) error {
	old, err := filepath.Glob(filepath.Join(folder, "generated_*.go"))
	if err != nil {
		return err
	}
	for _, file := range old {
		stays := slices.ContainsFunc(files, func(f tableFile) bool { return f.source == nil && f.file() == filepath.Base(file) })
		if !stays {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		if f.source == nil {
			if !slices.Contains(old, filepath.Join(folder, f.file())) {
				return fmt.Errorf("%s: no table from an earlier run", f.path)
			}
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, f.file()), f.source, 0o644); err != nil {
			return err
		}
	}
	source, err := index(filepath.Base(folder), constraint, files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "generated_index.go"), source, 0o644)
}

// index returns the source of the map from yaegi's keys to the tables.
func index(name, constraint string, files []tableFile) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(describe.Head(name, constraint))
	b.WriteString("import \"reflect\"\n\n// Tables has the symbols of each package by yaegi's key, import path and package name.\n")
	b.WriteString("var Tables = map[string]func() map[string]reflect.Value{\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\t%q: %s,\n", path.Join(f.path, f.name), describe.Function(f.path))
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}
