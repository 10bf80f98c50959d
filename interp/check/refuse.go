package check

import (
	"fmt"
	"go/ast"
	"go/types"
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
