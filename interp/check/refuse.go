package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// rejectedDirective returns the reason why a cell must not contain a compiler directive, or "" for
// other comments. Without the directive, the following variable or function would not be what it is
// in Go.
func rejectedDirective(comment string) string {
	directive, _, _ := strings.Cut(strings.ReplaceAll(comment, "\t", " "), " ")
	switch directive {
	case "//go:embed":
		return "go:embed is not supported, because a cell has no source directory: read the file with os.ReadFile, or use os.DirFS for a directory"
	case "//go:linkname":
		return "go:linkname is not supported: a cell can only use the exported names of a package"
	}
	return ""
}

// Refuse sets a function that returns the reason why a cell must not use an exported name or field
// of a package, because it would not do what it does in Go. It returns "" for all others.
func Refuse(reason func(path, name string) string) Option {
	return func(c *Checker) { c.refuse = reason }
}

// rejections returns the errors about names that the cell must not use.
func (a *attempt) rejections() ErrorList {
	var errs ErrorList
	for id, o := range a.info.Uses {
		if o.Pkg() == nil || o.Pkg() == a.pkg || !o.Exported() {
			continue
		}
		reason := a.refuse(o.Pkg().Path(), o.Name())
		if reason == "" || hasReceiver(o) {
			continue
		}
		errs = append(errs, &Error{
			Pos: a.fset.Position(id.Pos()),
			Msg: fmt.Sprintf("%s.%s is not supported: %s", o.Pkg().Name(), o.Name(), reason),
			pos: id.Pos(),
		})
	}
	errs = append(errs, a.returnsInFunctions()...)
	return append(errs, a.longSignatures()...)
}

// maxParameters is the maximum number of parameters, results and receivers together of a function
// type in package reflect.
const maxParameters = 128

// longSignatures returns the errors about functions with too many parameters.
func (a *attempt) longSignatures() (errs ErrorList) {
	length := func(l *ast.FieldList) int {
		if l == nil {
			return 0
		}
		return l.NumFields()
	}
	receiver := map[*ast.FuncType]bool{}
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			receiver[n.Type] = n.Recv != nil
		case *ast.FuncType:
			sum, what := length(n.Params)+length(n.Results), "parameters and results"
			if receiver[n] {
				sum, what = sum+1, "parameters and results, the receiver included,"
			}
			if sum > maxParameters {
				errs = append(errs, &Error{
					Pos: a.fset.Position(n.Pos()),
					Msg: fmt.Sprintf("a function with %d %s is not supported: the limit is %d; pass a struct or a slice", sum, what, maxParameters),
					pos: n.Pos(),
				})
			}
		}
		return true
	})
	return errs
}

func hasReceiver(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

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
