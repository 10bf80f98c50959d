package lower

// A go statement evaluates its arguments and calls the session, which reports a panic instead of ending
// the process:
//
//	go f(a)            ->  var t1 A = a; t2 := func() { fʹ1(t1) }; sessionʹ.Go(3, t2)
//	go func() {...}()  ->  t1 := func() {...}; sessionʹ.Go(3, t1)
//	wg.Go(f)           ->  wg.Go(sessionʹ.Guard(3, f))

import (
	"fmt"
	"go/ast"
)

// startsGoroutine are the compiled functions that call a func() in a new goroutine.
var startsGoroutine = map[string]bool{
	"(*sync.WaitGroup).Go": true,
	"time.AfterFunc":       true,
	"context.AfterFunc":    true,
}

// guarded wraps an argument of a compiled function that calls it in a new goroutine.
func (f *functionTypes) guarded(e *ast.CallExpr, text, typ string) string {
	o := f.compiledFunc(e)
	if o == nil || typ != "func()" || !startsGoroutine[o.FullName()] {
		return text
	}
	return fmt.Sprintf("%s(%d, %s)", f.session("Guard"), f.cell.Number, text)
}

func (f *function) goStatement(w *writer, s *ast.GoStmt) {
	closure := f.temp()
	if lit, ok := ast.Unparen(s.Call.Fun).(*ast.FuncLit); ok {
		w.line("%s := %s", closure, f.closure(f.thunk(w, s.Call, lit, ""), "func()"))
	} else {
		text, _ := f.later(w, s.Call)
		w.line("%s := %s", closure, f.closure("func() { "+text+" }", "func()"))
	}
	w.line("%s(%d, %s)", f.session("Go"), f.cell.Number, closure)
}
