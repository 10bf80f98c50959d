package lower

// Calls:
//
//	f(a, b)                 ->  fʹ1(a as the type of the parameter, b ...)
//	f(1, 2), func(...int)   ->  fʹ1([]int{1, 2}...)      yaegi treats a single slice as the whole list
//	compiled f()            ->  f([]int(nil)...)         package reflect would make a non-nil empty slice
//	f(g()), conversions     ->  func(t1 A, t2 B) R { return fʹ1(t1 as X, t2 as Y) }(g())
//	wg.Go(func() {...}), in a loop -> wg.Go(func() func() { return func() {...} }())
//	sort.Slice(ps, less)    ->  the raw value: package sort looks into it
//
// The reason for wg.Go: yaegi passes to compiled code a literal that shares the frame, so later
// iterations overwrite the variables that it has captured.

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// call is a call whose operands can be evaluated before it is made.
type call struct {
	function string // the called function, unless it is a method of a compiled type
	typ      string // type of function
	fixed    bool   // function is the name of a declared function
	dynamic  string // name of the method if function is a dispatcher

	receiver     string // of a method of a compiled type
	receiverType string
	byAddress    bool // the method has a pointer receiver and receiver is a variable
	method       string

	arguments []argument
	slices    bool // a variadic parameter is declared as a slice
	spread    bool // the last argument is followed by ...
}

type argument struct{ text, typ string }

func (c *call) text() string {
	texts := make([]string, len(c.arguments))
	for i, a := range c.arguments {
		texts[i] = a.text
	}
	function, method, spread := c.function, "", ""
	if c.method != "" {
		function, method = c.receiver, "."+c.method
	}
	if c.spread {
		spread = "..."
	}
	// In a chain of calls, each call copies the text of the previous one, so copy it only once.
	return function + method + "(" + list(texts) + spread + ")"
}

// bindReceiver replaces the receiver by name, and returns the receiver and its type.
func (c *call) bindReceiver(name string) (x, typ string) {
	if c.fixed {
		x, typ = c.arguments[0].text, c.arguments[0].typ
		c.arguments[0].text = name
		return x, typ
	}
	x, typ = c.receiver, c.receiverType
	if c.byAddress {
		x, typ = addressOf(x), "*"+typ
		c.byAddress = false
	}
	c.receiver = name
	return x, typ
}

// bind evaluates all operands of c immediately, for a go or defer statement.
func (f *function) bind(w *writer, c *call) {
	if c.dynamic != "" {
		// Go panics here if the interface is nil.
		w.line("%s", f.rt("Method", c.arguments[0].text, strconv.Quote(c.dynamic)))
	}
	if c.method != "" {
		x, typ := c.bindReceiver("")
		c.receiver = f.bindValue(w, argument{x, typ})
	} else if !c.fixed {
		c.function = f.bindValue(w, argument{c.function, c.typ})
	}
	for i, a := range c.arguments {
		c.arguments[i].text = f.bindValue(w, a)
	}
}

// bindValue evaluates a into a new variable.
func (f *function) bindValue(w *writer, a argument) string {
	t := f.temp()
	w.line("var %s %s = %s", t, a.typ, a.text)
	if f.repeats() {
		// Only a definition from a variable always creates a new variable.
		first := t
		t = f.temp()
		w.line("var %s %s = %s", t, a.typ, first)
	}
	return t
}

// callee returns the call of e.Fun without the user's arguments.
func (f *function) callee(e *ast.CallExpr) *call {
	fun := ast.Unparen(e.Fun)
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		if sel := f.Info.Selections[fun]; sel != nil {
			if sel.Kind() == types.MethodVal {
				return f.selectMethod(fun, f.expr(fun.X), f.typeOf(fun.X), sel)
			}
			break
		}
		_, declared := f.Info.Uses[fun.Sel].(*types.Func)
		return &call{function: f.reference(fun), fixed: declared, typ: f.typ(f.typeOf(fun))}
	case *ast.Ident:
		_, declared := f.Info.Uses[fun].(*types.Func)
		c := &call{function: f.reference(fun), fixed: declared}
		if !declared {
			c.typ = f.typ(f.typeOf(fun))
		}
		return c
	case *ast.IndexExpr, *ast.IndexListExpr:
		if id := calleeIdent(fun); id != nil {
			if _, ok := f.Info.Instances[id]; ok {
				if e := instantiated(fun); e != nil && f.Info.Selections[e] != nil {
					sel := f.Info.Selections[e]
					if sel.Kind() == types.MethodVal {
						return f.selectMethod(e, f.expr(e.X), f.typeOf(e.X), sel)
					}
					return &call{function: f.methodExpression(e, sel), typ: f.typ(f.typeOf(fun))}
				}
				return &call{function: f.reference(fun), fixed: true}
			}
		}
	}
	if lit, ok := fun.(*ast.FuncLit); ok {
		return &call{function: f.literal(lit, ""), typ: f.typ(f.typeOf(e.Fun))}
	}
	return &call{function: operand(f.expr(fun)), typ: f.typ(f.typeOf(e.Fun))}
}

// plan lowers a call that is neither a conversion nor a call of a builtin.
func (f *function) plan(e *ast.CallExpr) *call {
	c := f.callee(e)
	sig := f.typeOf(e.Fun).Underlying().(*types.Signature)
	compiled := f.isCompiled(e) && !c.slices
	n, variadic := sig.Params().Len(), sig.Variadic() && !e.Ellipsis.IsValid()
	var rest []argument
	for i, x := range e.Args {
		var t types.Type
		if sig.Variadic() && i >= n-1 {
			t = sig.Params().At(n - 1).Type()
			if variadic {
				t = t.Underlying().(*types.Slice).Elem()
			}
		} else {
			t = sig.Params().At(i).Type()
		}
		a := argument{typ: f.typ(t)}
		if i == 0 && f.isMapKey(e) {
			a.text = f.key(x, t)
		} else {
			a.text = f.exprTo(x, t)
		}
		if i == 0 {
			a.text = f.named(e, x, a.text)
		}
		if e.Ellipsis.IsValid() && isNil(f.typeOf(x)) {
			a.text = convertible(a.typ) + "(nil)" // f(nil...)
		}
		a.text = f.guarded(e, a.text, a.typ)
		if variadic && i >= n-1 {
			rest = append(rest, a)
		} else {
			c.arguments = append(c.arguments, a)
		}
	}
	if variadic {
		f.variadic(c, sig.Params().At(n-1).Type().Underlying().(*types.Slice), rest, compiled)
	} else {
		c.spread = e.Ellipsis.IsValid() && !c.slices
	}
	return c
}

// variadic appends the arguments of a variadic parameter.
func (f *functionTypes) variadic(c *call, t *types.Slice, rest []argument, compiled bool) {
	if compiled && len(rest) > 0 && !(types.IsInterface(t.Elem()) && !isEmptyInterface(t.Elem())) {
		c.arguments = append(c.arguments, rest...)
		return
	}
	if len(rest) == 0 && c.fixed && !c.slices && !compiled {
		return
	}
	texts := make([]string, len(rest))
	for i, a := range rest {
		texts[i] = a.text
	}
	typ := f.typ(t)
	var text string
	if len(rest) > 0 {
		text = sliceLiteral(typ, texts)
	} else {
		text = convertible(typ) + "(nil)"
	}
	c.arguments = append(c.arguments, argument{text, typ})
	c.spread = !c.slices
	if c.spread {
		// With ... yaegi does not turn the name of a function into a value.
		for i, a := range c.arguments[:len(c.arguments)-1] {
			if strings.HasPrefix(a.typ, "func(") {
				c.arguments[i].text = "func(f " + a.typ + ") " + a.typ + " { return f }(" + a.text + ")"
			}
		}
	}
}

// isMapKey reports whether the first argument of e becomes a key of a compiled map.
func (f *functionTypes) isMapKey(e *ast.CallExpr) bool {
	o := f.compiledFunc(e)
	return o != nil && o.Pkg().Path() == "sync" && strings.HasPrefix(o.FullName(), "(*sync.Map).") && o.Name() != "Range"
}

func isReflectValue(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Value" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "reflect"
}

// instantiated returns the selector of the method that an index expression instantiates, or nil if
// the expression is something else.
func instantiated(e ast.Expr) *ast.SelectorExpr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	method, _ := ast.Unparen(e).(*ast.SelectorExpr)
	return method
}

func calleeIdent(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.ParenExpr:
		return calleeIdent(e.X)
	case *ast.IndexExpr:
		return genericIdent(e.X)
	case *ast.IndexListExpr:
		return genericIdent(e.X)
	}
	return nil
}

// genericIdent returns the identifier of the function e in e[T]; e is f, p.f or (f).
func genericIdent(e ast.Expr) *ast.Ident {
	switch e.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return nil
	}
	return calleeIdent(e)
}

// compiledFunc returns the compiled function or method that e calls, or nil.
func (f *functionTypes) compiledFunc(e *ast.CallExpr) *types.Func {
	id := calleeIdent(e.Fun)
	if id == nil {
		return nil
	}
	o, ok := f.Info.Uses[id].(*types.Func)
	if !ok || o.Pkg() == nil || origin.Interpreted(o.Pkg()) || isSource(o.Pkg()) {
		return nil
	}
	if _, generic := f.Info.Instances[id]; generic {
		return nil
	}
	if recv := o.Signature().Recv(); recv != nil {
		if n, _ := named(recv.Type()); n != nil && Interpreted(n) {
			return nil
		}
	}
	return o
}

func (f *functionTypes) isCompiled(e *ast.CallExpr) bool { return f.compiledFunc(e) != nil }

// call lowers a call expression.
func (f *function) call(e *ast.CallExpr) string {
	switch tv := f.Info.Types[e.Fun]; {
	case tv.IsType():
		return f.conversion(e, f.subst(tv.Type))
	case tv.IsBuiltin():
		return f.builtin(e, calleeIdent(e.Fun).Name)
	}
	if text, ok := f.shim(e); ok {
		return text
	}
	sig := f.typeOf(e.Fun).Underlying().(*types.Signature)
	if len(e.Args) == 1 {
		if tuple, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok {
			return f.spreadCall(e, sig, tuple)
		}
	}
	return f.plan(e).text()
}

// spreadCall lowers f(g()) where g has several results.
func (f *function) spreadCall(e *ast.CallExpr, sig *types.Signature, tuple *types.Tuple) string {
	c := f.callee(e)
	compiled := f.isCompiled(e) && !c.slices
	n := sig.Params().Len()
	var parameters []string
	var rest []argument
	outer := []string{}
	switch {
	case c.method != "" || c.fixed && len(c.arguments) > 0:
		x, typ := c.bindReceiver("r")
		parameters, outer = append(parameters, "r "+typ), append(outer, x)
	case !c.fixed:
		parameters, outer = append(parameters, "r "+c.typ), append(outer, c.function)
		c.function = "r"
	}
	for i := range tuple.Len() {
		t := sig.Params().At(min(i, n-1)).Type()
		isRest := sig.Variadic() && i >= n-1
		if isRest {
			t = t.Underlying().(*types.Slice).Elem()
		}
		name := fmt.Sprintf("t%d", i)
		parameters = append(parameters, name+" "+f.typ(tuple.At(i).Type()))
		a := argument{f.convert(name, tuple.At(i).Type(), t), f.typ(t)}
		if isRest {
			rest = append(rest, a)
		} else {
			c.arguments = append(c.arguments, a)
		}
	}
	if sig.Variadic() {
		f.variadic(c, sig.Params().At(n-1).Type().Underlying().(*types.Slice), rest, compiled)
	}
	results := f.typeTexts(sig.Results())
	if len(outer) == 0 {
		return fmt.Sprintf("func(%s) (%s) { %s%s }(%s)", list(parameters), list(results), returning(sig), c.text(), f.expr(e.Args[0]))
	}
	// yaegi passes on several results only if the call is the single argument.
	receiver, tupleParameters := parameters[0], parameters[1:]
	return fmt.Sprintf("func(%s) (%s) { return func(%s) (%s) { %s%s } }(%s)(%s)",
		receiver, "func("+list(typesOf(tupleParameters))+") ("+list(results)+")",
		list(tupleParameters), list(results), returning(sig), c.text(), outer[0], f.expr(e.Args[0]))
}

func typesOf(parameters []string) []string {
	out := make([]string, len(parameters))
	for i, p := range parameters {
		_, out[i], _ = strings.Cut(p, " ")
	}
	return out
}
