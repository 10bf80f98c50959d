package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Names that a cell must not have from other cells. A test of an exercise runs after the cells of a student, who may redefine
// any name, by mistake or to make the test succeed.

// CheckPackage is the path of our package with checks for tests. In a cell that imports it, predeclared names and the names
// of packages have their usual meaning.
const CheckPackage = "github.com/quernlab/quern/check"

// importsCheck reports whether the text of the cell imports CheckPackage.
func (a *attempt) importsCheck() bool {
	for _, spec := range a.file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && path == CheckPackage {
			return true
		}
	}
	return false
}

// isPredeclared reports whether a name of the cell has its predeclared meaning, whatever earlier cells
// have defined.
func (a *attempt) isPredeclared(name string) bool {
	return (a.program || a.strict) && types.Universe.Lookup(name) != nil
}

// isPackage reports whether a name before a dot in a strict cell is that of a package, although an earlier cell has defined
// the name: a package has all the names that the cell selects.
func (a *attempt) isPackage(name string, members []string) bool {
	return a.strict && a.bestGuess(name, members) != ""
}

// bestGuess returns the path of the first package with a name that can be imported without an import, and that has all members.
func (a *attempt) bestGuess(name string, members []string) string {
	for _, path := range a.guess(name) {
		p, err := a.importer.Import(path)
		if err == nil && p.Name() == name && !slices.ContainsFunc(members, func(m string) bool { return p.Scope().Lookup(m) == nil }) {
			return path
		}
	}
	return ""
}

// noteRedefined adds notes about the predeclared names that the cell redefines.
func (a *attempt) noteRedefined() {
	if a.sketch || a.program {
		return // in a program it is up to the file, and concerns nothing else
	}
	noted := func(id *ast.Ident) {
		name := strings.TrimSuffix(id.Name, outerSuffix)
		if o := types.Universe.Lookup(name); o != nil && a.isOwn(id.Pos()) {
			a.note(id.Pos(), name, fmt.Sprintf("%s is predeclared in Go: this cell redefines it, also for later cells (%s)", name, a.fset.Position(id.Pos())))
		}
	}
	for _, d := range a.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				noted(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					noted(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						noted(id)
					}
				case *ast.ImportSpec:
					if s.Name != nil {
						noted(s.Name)
					}
				}
			}
		}
	}
}
