package facts

import "go/ast"

// ReceiverBase returns the name of the type of a method's receiver, and whether that type has type parameters. The name is "" if
// the receiver is not one that Go allows.
func ReceiverBase(f *ast.FuncDecl) (name string, generic bool) {
	if len(f.Recv.List) == 0 {
		return "", false
	}
	e := f.Recv.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e, generic = t.X, true
		case *ast.IndexListExpr:
			e, generic = t.X, true
		case *ast.Ident:
			return t.Name, generic
		default:
			return "", generic
		}
	}
}
