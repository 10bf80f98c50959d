package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// directiveRefusal says why a comment that a compiler obeys cannot stand in a cell,
// "" for all others: without it the variable or function that follows would be
// another one than Go's.
func directiveRefusal(comment string) string {
	directive, _, _ := strings.Cut(strings.ReplaceAll(comment, "\t", " "), " ")
	switch directive {
	case "//go:embed":
		return "go:embed is not supported, because a cell has no folder of source: read the file with os.ReadFile, or take os.DirFS for a folder"
	case "//go:linkname":
		return "go:linkname is not supported: a cell has only the exported names of a package"
	}
	return ""
}

// Refuse sets the function that says why a cell cannot use an exported name, or
// field, of a package: because what it would do there is not what Go says. It
// returns "" for all others.
func Refuse(reason func(path, name string) string) Option {
	return func(c *Checker) { c.refuse = reason }
}

// refusals returns the errors of a cell that uses what it cannot have.
func (a *attempt) refusals() ErrorList {
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
	return append(errs, a.longSignatures()...)
}

// maxParameters is how many parameters, results and receivers package reflect allows a
// function type together.
const maxParameters = 128

// longSignatures returns the errors of functions with too many parameters.
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
