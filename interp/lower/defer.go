package lower

// Deferred calls are closures on a list of the compiled run time, see
// rt.Deferred. A function with a defer statement is
//
//	func fʹ1() R {
//		var r1 R
//		rtʹ.Protect(&positionʹ, func(d *rtʹ.Deferred) { ... r1 = v; return ... })
//		return r1
//	}
//
// and its statements are
//
//	defer g(a, b)               ->  var t1 A = a; var t2 B = b; t3 := func() { gʹ1(t1, t2) }; d.Push(t3)
//	defer h(), h a function value or with a recover -> ... d.PushValue(t3, 2)
//	defer func() { recover() }()  ->  t1 := func() { d.Recover() }; d.Push(t1)
//	defer recover()               ->  ... d.Push(func() { if !d.Panicking() { outer.Recover() } })
//	func h() { recover() }        ->  func hʹ1() { d := rtʹ.Recoverer(); d.Recover() }
//
// Each closure is first assigned to a variable: otherwise yaegi does not give it the current values of
// its captured variables.

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/interp/origin"
)

func (f *function) deferStatement(w *writer, s *ast.DeferStmt) {
	d := f.goFrame().deferred
	closure := f.temp()
	if lit, ok := ast.Unparen(s.Call.Fun).(*ast.FuncLit); ok {
		w.line("%s := %s", closure, f.closure(f.thunk(w, s.Call, lit, d), "func()"))
		w.line("%s.Push(%s)", d, closure)
		return
	}
	text, depth := f.later(w, s.Call)
	w.line("%s := %s", closure, f.closure("func() { "+text+" }", "func()"))
	if f.mayRecover(s.Call) {
		w.line("%s.PushValue(%s, %d)", d, closure, 1+depth)
	} else {
		w.line("%s.Push(%s)", d, closure)
	}
}

// thunk renders the literal of a go or defer statement as a function without parameters. Its arguments
// are evaluated immediately.
func (f *function) thunk(w *writer, e *ast.CallExpr, lit *ast.FuncLit, recovers string) string {
	sig := f.Info.Types[lit].Type.(*types.Signature)
	if len(e.Args) == 0 && sig.Results().Len() == 0 && sig.Params().Len() == 0 {
		return f.literal(lit, recovers)
	}
	function := f.temp()
	w.line("%s := %s", function, f.closure(f.literal(lit, recovers), f.typ(f.typeOf(lit))))
	arguments := f.now(w, e)
	return "func() { " + function + "(" + arguments + ") }"
}

// now evaluates the arguments of a call of a literal.
func (f *function) now(w *writer, e *ast.CallExpr) string {
	c := f.plan(&ast.CallExpr{Fun: e.Fun, Args: e.Args, Ellipsis: e.Ellipsis})
	c.fixed = true
	f.bind(w, c)
	c.function = ""
	text := c.text()
	return text[1 : len(text)-1]
}

// later evaluates the operands of a call immediately, and renders the call. depth is the number of
// activations of lowered code that the call makes.
func (f *function) later(w *writer, e *ast.CallExpr) (text string, depth int) {
	tv := f.Info.Types[e.Fun]
	switch {
	case tv.IsBuiltin():
		return f.laterBuiltin(w, e, calleeIdent(e.Fun).Name), 0
	case tv.IsType():
		f.unsupported(e, "a conversion after go or defer", "")
	}
	if f.isCompiled(e) {
		bound := *e
		bound.Args = f.boundAll(w, e.Args)
		if text, ok := f.shim(&bound); ok {
			return text, 0
		}
		e = &bound
	}
	c := f.plan(e)
	f.bind(w, c)
	if c.dynamic != "" {
		return c.text(), 2
	}
	return c.text(), 1
}

func (f *function) boundAll(w *writer, list []ast.Expr) []ast.Expr {
	bound := make([]ast.Expr, len(list))
	for i, x := range list {
		bound[i] = f.bound(w, x)
	}
	return bound
}

// bound evaluates x immediately and returns an identifier for its value.
func (f *function) bound(w *writer, x ast.Expr) ast.Expr {
	tv := f.Info.Types[x]
	if tv.Value != nil || isNil(f.typeOf(x)) {
		return x
	}
	t := f.typeOf(x)
	name := f.bindValue(w, argument{f.expr(x), f.typ(t)})
	return f.placeholder(x, name, t)
}

func (f *function) laterBuiltin(w *writer, e *ast.CallExpr, name string) string {
	if name == "recover" {
		// It is called when the function returns, as if by its last statement.
		fr := f.goFrame()
		return fmt.Sprintf("if !%s.Panicking() { %s.Recover() }", fr.deferred, fr.recovers)
	}
	bound := *e
	bound.Args = f.boundAll(w, e.Args)
	return f.builtin(&bound, name)
}

// mayRecover reports whether the callee may call recover: whether it is a function value, or a function
// of a cell that calls recover.
func (f *functionTypes) mayRecover(e *ast.CallExpr) bool {
	if f.Info.Types[e.Fun].IsBuiltin() || f.isCompiled(e) {
		// If compiled code calls a function of a cell, that function is too deep for recover.
		return false
	}
	id := calleeIdent(e.Fun)
	if id == nil {
		return true
	}
	o, ok := f.Info.Uses[id].(*types.Func)
	if !ok {
		return true
	}
	recovers, declared := f.recovering[o.Origin()]
	return recovers || !declared
}

// forwards returns the first statement of a function that does nothing but make the call c of the method m. It is
// empty if m cannot recover.
func (e *emitter) forwards(c *call, m *types.Func) string {
	recovers, activations := e.recovering[m.Origin()], "1"
	if c.dynamic != "" {
		activations = "2" // the dispatcher and the function
		for o, calls := range e.recovering {
			recovers = recovers || calls && origin.MethodKey(o) == c.dynamic && o.(*types.Func).Signature().Recv() != nil
		}
	}
	if !recovers {
		return ""
	}
	return e.rt("Forwards", activations) + "; "
}
