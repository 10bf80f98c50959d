package check

import (
	"fmt"
	"go/ast"
	"go/token"
)

// controlErrors finds jumps that Go would refuse, or that mean nothing, at the
// top level of a cell: return, and goto over the definition of a variable.
func (u *unit) controlErrors(fset *token.FileSet) ErrorList {
	var errs ErrorList
	labels := map[string]int{}
	for i, s := range u.body.Body.List {
		for {
			l, ok := s.(*ast.LabeledStmt)
			if !ok {
				break
			}
			labels[l.Label.Name] = i
			s = l.Stmt
		}
	}
	for i, s := range u.body.Body.List {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				errs = append(errs, &Error{Pos: place(fset, n.Pos()), Msg: "return is not allowed at the top level of a cell"})
			case *ast.BranchStmt:
				if n.Tok != token.GOTO || n.Label == nil {
					break
				}
				target, ok := labels[n.Label.Name]
				if !ok {
					break
				}
				for j := i + 1; j < target; j++ {
					if name := defines(u.body.Body.List[j]); name != nil {
						errs = append(errs, &Error{Pos: place(fset, n.Pos()), Msg: fmt.Sprintf("goto %s jumps over the definition of %s on line %d",
							n.Label.Name, name.Name, fset.Position(name.Pos()).Line)})
						break
					}
				}
			}
			return true
		})
	}
	return errs
}

// defines is a variable that the statement defines, or nil.
func defines(s ast.Stmt) *ast.Ident {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, e := range s.Lhs {
				if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
					return id
				}
			}
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
			return d.Specs[0].(*ast.ValueSpec).Names[0]
		}
	}
	return nil
}

// place is the position of p without the offset in the assembled file, which
// means nothing to a user.
func place(fset *token.FileSet, p token.Pos) token.Position {
	position := fset.Position(p)
	position.Offset = 0
	return position
}
