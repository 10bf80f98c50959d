// Package origin says where a types.Package comes from: cells, a module whose source is interpreted, or a compiled
// package.
//
// The package of the cells has the path "main". A package of a module has its import path with a prefix, because a
// compiled package may have the same path: a notebook can be in a module that is compiled into the program. Paths
// differ, so unexported names of two packages differ.
package origin

import (
	"go/types"
	"strings"
)

// modulePrefix cannot begin an import path, because ʹ is not allowed in one.
const modulePrefix = "moduleʹ/"

// ModulePath returns the types.Package.Path of a package of a module.
func ModulePath(importPath string) string { return modulePrefix + importPath }

// Interpreted reports whether a package consists of cells or comes from a module.
func Interpreted(pkg *types.Package) bool {
	return pkg.Path() == "main" || strings.HasPrefix(pkg.Path(), modulePrefix)
}

// IsModule reports whether a package comes from a module.
func IsModule(pkg *types.Package) bool { return strings.HasPrefix(pkg.Path(), modulePrefix) }

// ImportPath returns the import path of a package; "main" for that of the cells.
func ImportPath(pkg *types.Package) string { return strings.TrimPrefix(pkg.Path(), modulePrefix) }

// Describe replaces the paths of packages in the text of an error of the type checker, which has them where two packages
// have the same name, or of a finding of an analyzer.
func Describe(text string) string { return strings.ReplaceAll(text, modulePrefix, "") }

// MethodKey returns the key of a method in method tables. A type may have unexported methods of several packages with the
// same name.
func MethodKey(m types.Object) string {
	if m.Exported() || m.Pkg() == nil || !strings.HasPrefix(m.Pkg().Path(), modulePrefix) {
		return m.Name()
	}
	return ImportPath(m.Pkg()) + "." + m.Name()
}
