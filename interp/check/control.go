package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// EndCell is the argument of the function of [Return] that ends the cell.
const EndCell = -2

// Return lets a return statement at the top level end the cell: it is replaced by the call name(EndCell). Without this option
// it is an error.
func Return(name string) Option { return func(c *Checker) { c.endCell = name } }

// replaceReturns replaces the return statements outside of function literals by calls of the function of [Return].
func (a *attempt) replaceReturns() {
	replace := func(s *ast.Stmt) {
		r, ok := (*s).(*ast.ReturnStmt)
		switch {
		case !ok:
			return
		case a.endCell == "":
			a.errs = append(a.errs, &Error{Pos: cellPosition(a.fset, r.Pos()), Msg: "return is not allowed at the top level of a cell"})
		case len(r.Results) > 0:
			a.errs = append(a.errs, &Error{Pos: cellPosition(a.fset, r.Pos()),
				Msg: "a return at the top level ends the cell and has no value: display.Show(x) shows one, and so does x as the last line of the cell"})
		default:
			a.returns = append(a.returns, r.Pos())
		}
		number := &ast.UnaryExpr{OpPos: r.Pos(), Op: token.SUB, X: &ast.BasicLit{ValuePos: r.Pos(), Kind: token.INT, Value: strconv.Itoa(-EndCell)}}
		call := &ast.CallExpr{Fun: &ast.Ident{NamePos: r.Pos(), Name: a.endCell}, Lparen: r.Pos(), Args: []ast.Expr{number}, Rparen: r.Pos()}
		if a.endCell == "" {
			*s = &ast.EmptyStmt{Semicolon: r.Pos()}
			return
		}
		*s = &ast.ExprStmt{X: call}
	}
	replaceAll := func(list []ast.Stmt) {
		for i := range list {
			replace(&list[i])
		}
	}
	ast.Inspect(a.body.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			replaceAll(n.List)
		case *ast.CaseClause:
			replaceAll(n.Body)
		case *ast.CommClause:
			replaceAll(n.Body)
		case *ast.LabeledStmt:
			replace(&n.Stmt)
		}
		return true
	})
}

// returnsInFunctions returns the errors about return statements at the top level that are in a loop over a function. The cell
// would end without the function continuing after its yield, as it does in Go.
func (a *attempt) returnsInFunctions() (errs ErrorList) {
	if len(a.returns) == 0 {
		return nil
	}
	ast.Inspect(a.body.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			return true
		}
		if t := a.info.Types[loop.X].Type; t == nil || !isFunction(t) {
			return true
		}
		for _, pos := range a.returns {
			if loop.Body.Pos() <= pos && pos < loop.Body.End() {
				errs = append(errs, &Error{Pos: cellPosition(a.fset, pos), pos: pos,
					Msg: "a return at the top level cannot leave a loop over a function: use break, or put the loop into a function"})
			}
		}
		return false
	})
	return errs
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// controlErrors returns the errors about a goto at the top level of a cell over the definition of a
// variable.
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
