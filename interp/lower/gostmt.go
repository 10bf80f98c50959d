package lower

// A go statement evaluates its arguments and leaves the rest to the session,
// which reports a panic instead of dying of it:
//
//	go f(a)            ->  var t1 A = a; t2 := func() { fʹ1(t1) }; sessionʹ.Go(3, t2)
//	go func() {...}()  ->  t1 := func() {...}; sessionʹ.Go(3, t1)

import (
	"go/ast"
)

func (f *function) goStatement(w *writer, s *ast.GoStmt) {
	closure := f.temp()
	if lit, ok := ast.Unparen(s.Call.Fun).(*ast.FuncLit); ok {
		w.line("%s := %s", closure, f.thunk(w, s.Call, lit, ""))
	} else {
		w.line("%s := func() { %s }", closure, f.later(w, s.Call))
	}
	w.line("%s(%d, %s)", f.session("Go"), f.cell.Number, closure)
}
