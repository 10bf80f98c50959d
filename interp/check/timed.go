package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Statements that a command runs many times, to time them.
//
//	ʹ[0]; x++          // the next statement
//	ʹ[0:]; x++; f()    // all statements below
//
// become the argument of the call that runs the command:
//
//	ʹ(0, func(loopsʹ []struct{}) { for range loopsʹ { x++ } })
//
// So the loop is as fast as one of the user's. Its type has no name that a cell may have redefined. What the statements define is local to them. They fail the cell as its own
// statements would: with a panic, an error that they never read, or an error that the last one returns.

// Timed returns the text that marks the next statement of a cell, or all that follow, as an argument of a command.
func Timed(number int, all bool) string {
	if all {
		return fmt.Sprintf("%s[%d:]", predeclared, number)
	}
	return fmt.Sprintf("%s[%d]", predeclared, number)
}

// loopsName is the parameter of the function that runs timed statements. Its length is the number of loops.
const loopsName = "loopsʹ"

// returnedName is the variable for the last value of a call.
const returnedName = "valueʹ"

// IsReturned reports whether a variable, of an [Unread], stands for an error that a statement returns without assigning it.
func IsReturned(name string) bool { return name == returnedName }

// timedErrors returns an error for each mark without statements.
func (u *unit) timedErrors() (errs ErrorList) {
	for i, c := range u.chunks {
		var next []chunk
		switch {
		case !u.isTimedMark(c):
			continue
		case strings.Contains(u.src[c.start:c.end], ":]"):
			next = u.chunks[i+1:]
			if slices.ContainsFunc(next, func(c chunk) bool { return c.kind == packageChunk }) {
				continue // a program, whose main function is called
			}
		case i+1 < len(u.chunks):
			next = u.chunks[i+1 : i+2]
		}
		if !slices.ContainsFunc(next, func(c chunk) bool { return c.kind == stmtChunk || c.kind == varChunk }) {
			errs = append(errs, u.errorAt(c.start, "there is no statement to time: a declaration of a function or type, or an import, is none"))
		}
	}
	return errs
}

func (u *unit) isTimedMark(c chunk) bool {
	return c.kind == stmtChunk && strings.HasPrefix(u.src[c.start:c.end], predeclared+"[")
}

// wrapTimed makes timed statements arguments of the calls that run commands.
func (a *attempt) wrapTimed() {
	list := a.body.Body.List
	for i := 0; i < len(list); i++ {
		number, all := timedMark(list[i])
		if number == nil {
			continue
		}
		end := len(list)
		if !all {
			end = min(i+2, end)
		}
		if i+1 == end {
			continue // go/types reports an error
		}
		call := a.timedCall(number, slices.Clone(list[i+1:end]))
		list = slices.Concat(list[:i:i], []ast.Stmt{&ast.ExprStmt{X: call}}, list[end:])
	}
	a.body.Body.List = list
}

// timedMark returns the number of the command if s is a mark; nil if it is none.
func timedMark(s ast.Stmt) (number *ast.BasicLit, all bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	var of, index ast.Expr
	switch x := e.X.(type) {
	case *ast.IndexExpr:
		of, index = x.X, x.Index
	case *ast.SliceExpr:
		of, index, all = x.X, x.Low, true
	}
	if id, ok := of.(*ast.Ident); !ok || id.Name != predeclared {
		return nil, false
	}
	number, _ = index.(*ast.BasicLit)
	return number, all
}

func (a *attempt) timedCall(number *ast.BasicLit, list []ast.Stmt) ast.Expr {
	at, end := list[0].Pos(), list[len(list)-1].End()
	for i, s := range list {
		if e, ok := s.(*ast.ExprStmt); ok && !a.isPlainCall(e.X) {
			list[i] = discard(e.X)
		}
	}
	a.timed = append(a.timed, list)
	// Without a function of its own, these would end the loop, or run after it.
	if needsFunction(list) {
		list = []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{Fun: a.timedLiteral(at, end, nil, list), Lparen: end, Rparen: end}}}
	}
	loop := &ast.RangeStmt{For: at, Range: at, X: &ast.Ident{NamePos: at, Name: loopsName}, Body: &ast.BlockStmt{Lbrace: at, List: list, Rbrace: end}}
	loops := &ast.Field{Names: []*ast.Ident{{NamePos: at, Name: loopsName}}, Type: &ast.ArrayType{
		Lbrack: at, Elt: &ast.StructType{Struct: at, Fields: &ast.FieldList{Opening: at, Closing: at}}}}
	return &ast.CallExpr{
		Fun: &ast.Ident{NamePos: number.ValuePos, Name: predeclared}, Lparen: number.ValuePos,
		Args:   []ast.Expr{&ast.BasicLit{ValuePos: number.ValuePos, Kind: token.INT, Value: number.Value}, a.timedLiteral(at, end, []*ast.Field{loops}, []ast.Stmt{loop})},
		Rparen: end,
	}
}

func discard(x ast.Expr) ast.Stmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{&ast.Ident{NamePos: x.Pos(), Name: "_"}}, TokPos: x.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{x}}
}

func (a *attempt) timedLiteral(at, end token.Pos, parameters []*ast.Field, list []ast.Stmt) *ast.FuncLit {
	f := &ast.FuncLit{
		Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at, List: parameters, Closing: at}},
		Body: &ast.BlockStmt{Lbrace: at, List: list, Rbrace: end},
	}
	set(&a.timedLiterals, f, true)
	return f
}

func needsFunction(list []ast.Stmt) (found bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.DeferStmt, *ast.BranchStmt, *ast.LabeledStmt:
				found = true
			}
			return !found
		})
	}
	return found
}

// timedValue returns the timed statement at a position, if that is a call.
func (a *attempt) timedValue(p token.Pos) *ast.ExprStmt {
	for _, list := range a.timed {
		for _, s := range list {
			if e, ok := s.(*ast.ExprStmt); ok && s.Pos() <= p && p < s.End() {
				return e
			}
		}
	}
	return nil
}

// isTimedVariable reports whether a timed statement defines the variable at a position, for itself and those below.
func (a *attempt) isTimedVariable(p token.Pos) bool {
	for _, list := range a.timed {
		for _, s := range list {
			if id := defines(s); id != nil && s.Pos() <= p && p < s.End() && !a.inLiteral(p) {
				return true
			}
		}
	}
	return false
}

// finishTimed makes timed calls whose values are not used valid Go. It assigns the values of the last ones, since they are
// dropped on purpose, and sets Cell.Lost for errors among them.
func (a *attempt) finishTimed(cell *Cell) {
	for _, list := range a.timed {
		for i, s := range list {
			e, ok := s.(*ast.ExprStmt)
			if !ok {
				continue
			}
			if a.timedUnused[e] {
				list[i] = discard(e.X)
				continue
			}
			call, isCall := ast.Unparen(e.X).(*ast.CallExpr)
			if i < len(list)-1 || !isCall {
				continue
			}
			if s, last := a.assignValues(call); s != nil {
				if isError(last.Type()) && !makesError(a.info, call) {
					cell.lose(s, Unread{Var: last, Set: cellPosition(a.fset, call.Pos())})
				}
				list[i] = s
			}
		}
	}
}

// assignValues returns the statement that assigns the values of a call, and the variable of the last one; nil if the call has
// no values.
func (a *attempt) assignValues(call *ast.CallExpr) (s *ast.AssignStmt, last *types.Var) {
	var values []types.Type
	switch t := a.info.Types[call].Type.(type) {
	case nil:
	case *types.Tuple:
		for v := range t.Variables() {
			values = append(values, v.Type())
		}
	default:
		values = []types.Type{t}
	}
	if len(values) == 0 {
		return nil, nil
	}
	s = &ast.AssignStmt{TokPos: call.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{call}}
	for i, t := range values {
		id := &ast.Ident{NamePos: call.Pos(), Name: "_"}
		if i == len(values)-1 {
			id.Name = returnedName
		}
		last = types.NewVar(call.Pos(), a.pkg, id.Name, t)
		a.info.Defs[id] = last
		s.Lhs = append(s.Lhs, id)
	}
	return s, last
}
