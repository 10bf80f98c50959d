package main

import (
	"fmt"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// generateOwn writes the archive and the tables of our packages. A package that does not compile now keeps what it had.
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
	var files []tableFile
	for _, p := range packages {
		if !importable(p.ImportPath) || p.Name == "main" {
			continue
		}
		if problem := p.problem(); problem != "" {
			fmt.Printf("left as it was: %s: %s\n", p.ImportPath, problem)
			if p, ok := previous[p.ImportPath]; ok {
				described = append(described, p)
				files = append(files, tableFile{path: p.Path, name: p.Name})
			}
			continue
		}
		pkg, entry, err := describe(p)
		if err != nil {
			return err
		}
		described = append(described, entry)
		if t := newTable(pkg, func(string, string) bool { return true }); !t.empty() {
			source, err := t.source("own", "")
			if err != nil {
				return err
			}
			files = append(files, tableFile{path: p.ImportPath, name: p.Name, source: source})
		}
	}
	if err := writeArchive("own.zip", described); err != nil {
		return err
	}
	return writeTables("own", files)
}
