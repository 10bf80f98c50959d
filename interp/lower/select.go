package lower

// A select statement only finds its case, the bodies are in a switch, because a
// labelled branch out of a case of a select leaves only the select:
//
//	select {              var t1 int
//	case x = <-c:         var t2 T
//		break loop    ->  select { case t3 := <-c: t1 = 0; t2 = t3; default: t1 = 1 }
//	default:              switch t1 { case 0: x = t2; break loop; case 1: }
//	}

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (f *function) selectStatement(w *writer, s *ast.SelectStmt, label string) {
	t := f.push(&target{label: label})
	defer f.pop()
	found := f.temp()
	received := make([][]string, len(s.Body.List))
	w.open("{")
	f.storePosition(w, s)
	w.line("var %s int", found)
	cases := make([]string, len(s.Body.List))
	for i, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case nil:
			cases[i] = "default:"
		case *ast.SendStmt:
			channel := f.operand(w, comm.Chan, f.typeOf(comm.Chan))
			cases[i] = "case " + channel + " <- " + f.operand(w, comm.Value, f.coreOf(comm.Chan).(*types.Chan).Elem()) + ":"
		case *ast.ExprStmt:
			channel := ast.Unparen(comm.X).(*ast.UnaryExpr).X
			cases[i] = "case <-" + f.operand(w, channel, f.typeOf(channel)) + ":"
		case *ast.AssignStmt:
			channel := ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr).X
			cases[i] = f.operand(w, channel, f.typeOf(channel)) + ":"
			received[i] = f.receivers(w, comm)
		}
	}
	w.line("select {")
	for i, c := range s.Body.List {
		if _, ok := c.(*ast.CommClause).Comm.(*ast.AssignStmt); !ok {
			w.line("%s", cases[i])
		} else {
			temps := make([]string, len(received[i]))
			for j := range temps {
				temps[j] = f.temp()
			}
			w.line("case %s := <-%s", list(temps), cases[i])
			for j, temp := range temps {
				w.line("\t%s = %s", received[i][j], temp)
			}
		}
		w.line("\t%s = %d", found, i)
	}
	w.line("}")
	f.label(w, t)
	w.line("switch %s {", found)
	for i, c := range s.Body.List {
		c := c.(*ast.CommClause)
		w.line("case %d:", i)
		w.indent++
		if a, ok := c.Comm.(*ast.AssignStmt); ok {
			f.assignReceived(w, a, received[i])
		}
		f.statements(w, c.Body)
		w.indent--
	}
	w.line("}")
	w.close("}")
}

// operand evaluates an operand of a case now: all are evaluated once, in source
// order, before one is chosen.
func (f *function) operand(w *writer, e ast.Expr, t types.Type) string {
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(t), f.exprTo(e, t))
	return tmp
}

// receivers declares variables for what a case receives.
func (f *function) receivers(w *writer, s *ast.AssignStmt) []string {
	names := make([]string, len(s.Lhs))
	for i, t := range f.receivedTypes(s)[:len(names)] {
		names[i] = f.temp()
		w.line("var %s %s", names[i], f.typ(t))
	}
	return names
}

func (f *function) receivedTypes(s *ast.AssignStmt) []types.Type {
	from := ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X
	return []types.Type{f.coreOf(from).(*types.Chan).Elem(), types.Typ[types.Bool]}
}

// assignReceived gives the user's variables what was received.
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
			w.line("%s = %s", f.expr(e), value)
		}
	}
}
