package lower

// A select statement only selects the case. The bodies are in a switch:
//
//	select {              var t1 T
//	case x = <-c:         t2, t3 := rtʹ.Select("rd", c, &t1)
//		break loop    ->  switch t2 {
//	default:              case 0: x = t1; break loop
//	}                     case 1: }
//
// yaegi stores the cases of a select in the statement, where goroutines that execute it at the same time overwrite
// each other's cases. In yaegi a labeled branch out of a case only leaves the select.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

func (f *function) selectStatement(w *writer, s *ast.SelectStmt, label string) {
	t := f.push(&target{label: label})
	defer f.pop()
	received := make([][]string, len(s.Body.List))
	w.open("{")
	f.storePosition(w, s)
	chosen, ok := f.temp(), f.temp()
	directions, operands := "", []string{""}
	for i, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case nil:
			directions += "d"
		case *ast.SendStmt:
			directions += "s"
			channel := f.operand(w, comm.Chan, f.typeOf(comm.Chan))
			operands = append(operands, channel, "&"+f.operand(w, comm.Value, f.coreOf(comm.Chan).(*types.Chan).Elem()))
		case *ast.ExprStmt:
			directions += "r"
			channel := ast.Unparen(comm.X).(*ast.UnaryExpr).X
			operands = append(operands, f.operand(w, channel, f.typeOf(channel)), "nil")
		case *ast.AssignStmt:
			directions += "r"
			channel := ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr).X
			operands = append(operands, f.operand(w, channel, f.typeOf(channel)))
			variable := f.temp()
			w.line("var %s %s", variable, f.typ(f.receivedTypes(comm)[0]))
			operands = append(operands, "&"+variable)
			received[i] = []string{variable, ok}
		}
	}
	operands[0] = strconv.Quote(directions)
	w.line("%s, %s := %s", chosen, ok, f.rt("Select", operands...))
	w.line("_ = %s", ok)
	f.label(w, t)
	w.line("switch %s {", chosen)
	for i, c := range s.Body.List {
		c := c.(*ast.CommClause)
		w.line("case %d:", i)
		w.indent++
		if a, ok := c.Comm.(*ast.AssignStmt); ok {
			f.assignReceived(w, a, received[i])
			f.lost(w, a)
		}
		f.clauseStatements(w, c.Body)
		w.indent--
	}
	w.line("}")
	w.close("}")
}

// operand evaluates an operand of a case immediately: all operands are evaluated once, in source order, before a case
// is selected.
func (f *function) operand(w *writer, e ast.Expr, t types.Type) string {
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(t), f.exprTo(e, t))
	return tmp
}

func (f *functionTypes) receivedTypes(s *ast.AssignStmt) []types.Type {
	from := ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X
	return []types.Type{f.coreOf(from).(*types.Chan).Elem(), types.Typ[types.Bool]}
}

// assignReceived assigns the received values to the user's variables.
func (f *function) assignReceived(w *writer, s *ast.AssignStmt, names []string) {
	for i, e := range s.Lhs {
		if isBlank(e) {
			continue
		}
		t := f.targetType(e)
		value := f.convert(names[i], f.receivedTypes(s)[i], t)
		if v := f.defined(e); v != nil && s.Tok == token.DEFINE {
			f.defineFrom(w, v, t, value)
		} else {
			w.line("%s = %s", f.target(w, e), value)
		}
	}
}
