package check

import (
	"fmt"
	"go/ast"
	"go/token"
)

// controlErrors returns the errors about jumps at the top level of a cell: return, and a goto
// over the definition of a variable.
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
	next := nextDefinitions(u.body.Body.List)
	for i, s := range u.body.Body.List {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				errs = append(errs, &Error{Pos: cellPosition(fset, n.Pos()), Msg: "return is not allowed at the top level of a cell"})
			case *ast.BranchStmt:
				if n.Tok != token.GOTO || n.Label == nil {
					break
				}
				target, ok := labels[n.Label.Name]
				if !ok {
					break
				}
				if j := next[i+1]; j < target {
					name := defines(u.body.Body.List[j])
					errs = append(errs, &Error{Pos: cellPosition(fset, n.Pos()), Msg: fmt.Sprintf("goto %s jumps over the definition of %s on line %d",
						n.Label.Name, name.Name, fset.Position(name.Pos()).Line)})
				}
			}
			return true
		})
	}
	return errs
}

// nextDefinitions returns for each statement, and for the end, the index of the first
// statement from there on that defines a variable, or the number of statements.
func nextDefinitions(list []ast.Stmt) []int {
	next := make([]int, len(list)+1)
	next[len(list)] = len(list)
	for i := len(list) - 1; i >= 0; i-- {
		next[i] = next[i+1]
		if defines(list[i]) != nil {
			next[i] = i
		}
	}
	return next
}

// defines returns a variable that the statement defines, or nil.
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

// cellPosition returns the position of p without its offset, which is that in the generated file.
func cellPosition(fset *token.FileSet, p token.Pos) token.Position {
	position := fset.Position(p)
	position.Offset = 0
	return position
}
