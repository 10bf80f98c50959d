package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// A cell shows the values of its last statement if that is an expression with values. A semicolon
// after it hides them. If the statement writes or prints, only its error is shown: users do not want
// to see the number of bytes of fmt.Fprintln.

// setResult sets what the cell shows and makes its last statement valid Go.
func (a *attempt) setResult(cell *Cell) {
	if a.result == nil {
		return
	}
	if a.values {
		// The list is lowered like any call of a compiled function.
		call := a.result.(*ast.CallExpr)
		a.info.Uses[call.Fun.(*ast.Ident)] = a.show
		return
	}
	last := len(cell.Body) - 1
	quiet := a.chunks[a.lastStatement()].quiet
	call := a.isPlainCall(a.result) && !a.unused
	if quiet {
		if !call {
			cell.Body[last] = &ast.AssignStmt{
				Lhs: []ast.Expr{&ast.Ident{NamePos: a.result.Pos(), Name: "_"}}, TokPos: a.result.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{a.result}}
		}
		return
	}
	if call {
		tv := a.info.Types[a.result]
		if tv.IsVoid() || a.prints(a.result.(*ast.CallExpr)) {
			return
		}
		cell.count = a.isCount(a.result, tv.Type)
	}
	cell.Result = []ast.Expr{a.result}
}

func (a *attempt) lastStatement() int {
	for i := len(a.chunks) - 1; i > 0; i-- {
		if a.chunks[i].kind == stmtChunk {
			return i
		}
	}
	return 0
}

// displayPackage has functions that show values. Its function Show returns a handle of an output that
// is already visible.
const displayPackage = "github.com/quernlab/quern/display"

// prints reports whether a call prints to standard output, which cannot fail, or shows its arguments.
func (a *attempt) prints(call *ast.CallExpr) bool {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := a.info.Uses[s.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	return f.Pkg().Path() == "fmt" && strings.HasPrefix(f.Name(), "Print") || f.Pkg().Path() == displayPackage && f.Name() == "Show"
}

// isCount reports whether t is the result of a write or a print: results named (n int, err error) of a
// function that does not read, or (int, error) of a function with such a name.
func (a *attempt) isCount(x ast.Expr, t types.Type) bool {
	tuple, ok := t.(*types.Tuple)
	if !ok || tuple.Len() != 2 || !types.Identical(tuple.At(0).Type(), types.Typ[types.Int]) || !isError(tuple.At(1).Type()) {
		return false
	}
	named := tuple.At(0).Name() == "n" && tuple.At(1).Name() == "err"
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if f, ok := a.info.Uses[s.Sel].(*types.Func); ok && named && f.Pkg() != a.pkg {
			return !strings.HasPrefix(f.Name(), "Read")
		}
		for _, verb := range []string{"Write", "Print", "Fprint", "Scan"} {
			if strings.HasPrefix(s.Sel.Name, verb) {
				return true
			}
		}
	}
	return false
}

// IsCount reports whether Result is the count and the error of a write. Only the error is shown.
func (c *Cell) IsCount() bool { return c.count }

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// makesError reports whether a call creates an error value, which does not mean that it failed.
func makesError(info *types.Info, call *ast.CallExpr) bool {
	if info.Types[call.Fun].IsType() {
		return true // conversion
	}
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := info.Uses[s.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	return f.Pkg().Path() == "errors" || f.Pkg().Path() == "fmt" && f.Name() == "Errorf"
}

// inLiteral reports whether p is in a function literal of the statements.
func (a *attempt) inLiteral(p token.Pos) bool { return a.literals(a.timedLiterals)(p) }

// literals returns a function that reports whether a position is in a function literal of the
// statements, apart from some.
func (a *attempt) literals(except map[*ast.FuncLit]bool) func(token.Pos) bool {
	var outer []*ast.FuncLit // in source order
	for _, s := range a.hoisting.original {
		ast.Inspect(s, func(n ast.Node) bool {
			l, ok := n.(*ast.FuncLit)
			if ok && !except[l] {
				outer = append(outer, l)
				return false
			}
			return true
		})
	}
	return func(p token.Pos) bool {
		i := sort.Search(len(outer), func(i int) bool { return p < outer[i].End() })
		return i < len(outer) && outer[i].Pos() <= p
	}
}

// MakesError reports whether a call of the cell creates an error as a value: errors.New, errors.Join,
// fmt.Errorf, a conversion.
func (c *Cell) MakesError(call *ast.CallExpr) bool { return makesError(c.Info, call) }

// EndsInError reports whether the last value of Result has the type error.
func (c *Cell) EndsInError() bool {
	if len(c.Result) == 0 {
		return false
	}
	t := c.Info.Types[c.Result[0]].Type
	if tuple, ok := t.(*types.Tuple); ok {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && isError(t)
}

// IsCall reports whether Result is a call of a function or a method, and not a conversion.
func (c *Cell) IsCall() bool {
	if len(c.Result) == 0 {
		return false
	}
	call, ok := ast.Unparen(c.Result[0]).(*ast.CallExpr)
	return ok && !c.Info.Types[call.Fun].IsType()
}
