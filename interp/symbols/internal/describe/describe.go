// Package describe describes compiled packages for package symbols: their types and documentation as an entry of an
// archive, and their symbols as Go source.
//
// internal/generate does so for the packages of every program, and package build for those that a user adds.
//
//	load.go   packages that the go command compiles
//	docs.go   their documentation
//	table.go  their symbols
package describe

import (
	"go/types"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// Describe loads a package and returns its types and its archive entry.
func Describe(p Listed) (*types.Package, archive.Package, error) {
	pkg, err := Read(p)
	if err != nil {
		return nil, archive.Package{}, err
	}
	entry := archive.Package{Path: p.ImportPath, Name: p.Name}
	if entry.Types, err = export(pkg); err != nil {
		return nil, archive.Package{}, err
	}
	if entry.Docs, err = Docs(p); err != nil {
		return nil, archive.Package{}, err
	}
	return pkg, entry, nil
}
