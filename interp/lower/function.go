package lower

// Functions and methods:
//
//	func (p *P) M(a A) R {...}   ->  func PʹMʹ1(p *Pʹ1, a A) R {...}   lowered code has no named types, so no methods
//	func f() (n int) { n++; return }
//	                             ->  func fʹ1() int { var n int; n++; return n }
//	                                 in yaegi a named result has the storage, and the value, of the caller's variable
//	func f() { ... }             ->  func fʹ1() { if stopʹ { sessionʹ.Stop() }; ... }
//	f := func() { ... }          ->  f := func() { const identityʹ = 3; ... }
//	func f() { xs[0] = 1 }       ->  func fʹ1() { ...; atʹ := 3; xs[0] = 1 }
//	_ and missing parameters     ->  a name of their own

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// function is the state while one function is lowered with all its function literals.
type function struct {
	functionTypes
	facts   *facts.Function
	locals  map[types.Object]string
	globals map[types.Object]bool // variables of the top level, whose definitions become assignments
	taken   map[string]int
	temps   int
	frame   *frame
	code    activationCode
	top     bool // the function has the statements of a cell
	targets []*target
	labels  map[string]string

	owesCheck bool // see afterWait
}

// functionTypes knows the types in a function, which may be an instance of a generic one. Its methods write expressions and
// declarations that do not depend on the variables and statements around them.
type functionTypes struct {
	*emitter
	env *environment
}

// frame is the body of a function or literal of Go, or a literal made from the body of a range over a
// function.
type frame struct {
	outer     *frame
	results   []types.Type
	variables []string // the results if a return has to assign them, or the named results
	named     bool
	exit      exit
	deferred  string // the variable of type *rtʹ.Deferred, or "" without defer statements
	recovers  string // the variable on which recover() is called, or "" without recover()
	top       bool   // the statements of a cell
	loops     int    // number of loops of this frame around the statement
	iteration *iteration
}

// exit is the way in which a frame returns from the function of Go.
type exit int

const (
	byReturn exit = iota // return a, b
	byAssign             // r1, r2 = a, b; return: the body is the argument of rtʹ.Protect
	byYield              // r1, r2 = a, b; set the state of the loop; return false: the body of a range over a function
)

func (e *emitter) function(env *environment) *function {
	return &function{
		functionTypes: functionTypes{e, env},
		locals:        map[types.Object]string{}, globals: map[types.Object]bool{},
		taken: map[string]int{}, labels: map[string]string{},
	}
}

// functionDeclaration emits a function or a method.
func (e *emitter) functionDeclaration(decl *ast.FuncDecl, name string, env *environment) {
	f := e.function(env)
	e.atDeclaration(e.Info.Defs[decl.Name])
	sig := e.Info.Defs[decl.Name].Type().(*types.Signature)
	if decl.Body == nil {
		e.unsupported(decl, "a function without a body", "its opening brace must be on the line where its header ends")
	}
	f.facts = e.factsOf(decl, env)
	var parameters []string
	if recv := sig.Recv(); recv != nil {
		parameters = append(parameters, f.parameter(recv)+" "+f.typ(f.subst(recv.Type())))
	}
	parameters = append(parameters, f.parameters(sig)...)
	if recv := sig.Recv(); recv != nil {
		e.noteParameter(name, f.subst(recv.Type()))
	}
	for v := range sig.Params().Variables() {
		e.noteParameter(name, f.subst(v.Type()))
	}
	w := &e.out
	w.open("func %s(%s)%s {", name, list(parameters), f.resultList(sig))
	f.activation(w, sig, decl.Body.List, func(w *writer) { f.statements(w, decl.Body.List) })
	w.close("}")
}

// closure renders a function literal that is used as a value. If the statement may run more than once,
// each closure is created in a new frame:
//
//	for ... { go func() {...}() }  ->  t1 := func() func() { return func() {...} }(); ...
//
// When a closure returns, it writes to the frame that created it. There the next iteration may already
// have stored the next closure.
func (f *function) closure(text, typ string) string {
	if !f.repeats() {
		return text
	}
	return "func() " + typ + " { return " + text + " }()"
}

// Identity is a constant at the start of a function literal of lowered code. It says what the literal is in Go: the number of
// the position of a function literal, or the name of the method of a method value. The program may ask for it with
// runtime.FuncForPC. yaegi needs no time for a constant.
const Identity = "identityʹ"

// identifiedLiteral renders a function literal with its identity.
func (f *function) identifiedLiteral(lit *ast.FuncLit) string {
	return f.literalOf(lit, "", fmt.Sprintf("\tconst %s = %d\n", Identity, f.position(lit)))
}

// literal renders a function literal. recovers is set if it is the operand of a defer statement.
func (f *function) literal(lit *ast.FuncLit, recovers string) string {
	if call := f.cellCall(lit); call != "" {
		return call
	}
	return f.literalOf(lit, recovers, "")
}

// literalOf renders a function literal that begins with some text.
func (f *function) literalOf(lit *ast.FuncLit, recovers, begin string) string {
	sig := f.Info.Types[lit].Type.(*types.Signature)
	targets := f.targets
	f.targets = nil
	f.frame = &frame{outer: f.frame, recovers: recovers}
	defer func() { f.frame, f.targets = f.frame.outer, targets }()

	w := &writer{indent: 1}
	head := "func(" + list(f.parameters(sig)) + ")" + f.resultList(sig) + " {\n"
	f.fill(w, sig, lit.Body.List, func(w *writer) { f.statements(w, lit.Body.List) })
	return head + begin + w.text.String() + "}"
}

func (f *function) parameter(v *types.Var) string {
	if v.Name() == "" || v.Name() == "_" {
		return f.temp()
	}
	return f.declare(v)
}

// parameters declares the parameters of sig and renders each as "name type".
func (f *function) parameters(sig *types.Signature) []string {
	var out []string
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		out = append(out, f.parameter(v)+" "+f.parameterType(sig, i))
	}
	return out
}

func (f *functionTypes) parameterType(sig *types.Signature, i int) string {
	t := f.subst(sig.Params().At(i).Type())
	if sig.Variadic() && i == sig.Params().Len()-1 {
		return "..." + f.typ(t.Underlying().(*types.Slice).Elem())
	}
	return f.typ(t)
}

func (f *functionTypes) resultList(sig *types.Signature) string {
	var out []string
	for i := range sig.Results().Len() {
		out = append(out, f.typ(f.subst(sig.Results().At(i).Type())))
	}
	switch len(out) {
	case 0:
		return ""
	case 1:
		return " " + out[0]
	}
	return " (" + list(out) + ")"
}

// activation lowers the body of a declaration.
func (f *function) activation(w *writer, sig *types.Signature, body []ast.Stmt, statements func(*writer)) {
	f.frame = &frame{top: f.top}
	f.fill(w, sig, body, statements)
	f.frame = nil
}

// fill lowers a body into the current frame.
func (f *function) fill(w *writer, sig *types.Signature, body []ast.Stmt, statements func(*writer)) {
	f.positioned(w, func(w *writer) { f.fillBody(w, sig, body, statements) })
}

func (f *function) fillBody(w *writer, sig *types.Signature, body []ast.Stmt, statements func(*writer)) {
	fr := f.frame
	defers := facts.Defers(body)
	for i := range sig.Results().Len() {
		v := sig.Results().At(i)
		t := f.subst(v.Type())
		fr.results = append(fr.results, t)
		if v.Name() == "" && !defers && !f.facts.ReturnedInBody(sig.Results()) {
			continue
		}
		name := f.parameter(v)
		fr.named = fr.named || v.Name() != ""
		fr.variables = append(fr.variables, name)
		w.line("var %s %s", name, f.typ(t))
	}
	if fr.recovers == "" && facts.Recovers(body) {
		fr.recovers = f.temp()
		w.line("%s := %s", fr.recovers, f.rt("Recoverer"))
	}
	f.interruptible(w)
	if !defers {
		statements(w)
		if fr.named && !endsInReturn(body) {
			w.line("return %s", list(fr.variables))
		}
		return
	}
	fr.exit = byAssign
	fr.deferred = f.temp()
	w.open("%s.Protect(&positionʹ, func(%s *rtʹ.Deferred) {", f.importAs("quern/rt", "rtʹ"), fr.deferred)
	f.positioned(w, statements)
	w.close("})")
	if len(fr.results) > 0 {
		w.line("return %s", list(fr.variables))
	}
}

func isComplex(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsComplex != 0
}

func endsInReturn(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	_, ok := body[len(body)-1].(*ast.ReturnStmt)
	return ok
}

// returns lowers a return statement.
func (f *function) returns(w *writer, s *ast.ReturnStmt) {
	fr := f.frame
	var values []string
	switch {
	case len(s.Results) == 0:
		if fr.exit == byReturn && fr.named {
			values = fr.variables
		}
	case len(s.Results) == 1 && len(fr.results) > 1:
		tuple := f.typeOf(s.Results[0]).(*types.Tuple)
		values = f.tuple(w, s.Results[0], tuple)
		for i := range values {
			values[i] = f.convert(values[i], tuple.At(i).Type(), fr.results[i])
		}
		f.leave(w, values)
		return
	default:
		for i, x := range s.Results {
			values = append(values, f.resultTo(x, fr.results[i]))
		}
	}
	if fr.exit != byReturn && len(values) > 0 || slices.ContainsFunc(fr.results, isComplex) && len(values) > 0 || len(values) > 1 && f.appends(s) {
		// Go evaluates all results before it assigns the first one, and an assignment of a
		// composite literal would replace the variable. yaegi loses the result of complex in a
		// return statement, and stores that of append into the first one.
		for i, value := range values {
			t := f.temp()
			w.line("var %s %s = %s", t, f.typ(fr.results[i]), value)
			values[i] = t
		}
	}
	f.leave(w, values)
}

// appends reports whether a result of a return statement after the first one is a call of append.
func (f *functionTypes) appends(s *ast.ReturnStmt) bool {
	return len(s.Results) > 1 && slices.ContainsFunc(s.Results[1:], func(x ast.Expr) bool {
		e, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		return ok && id.Name == "append" && f.Info.Types[e.Fun].IsBuiltin()
	})
}

// resultTo is exprTo for a result. yaegi does not know the type of a nil of a compiled function type.
func (f *function) resultTo(x ast.Expr, t types.Type) string {
	if _, function := t.Underlying().(*types.Signature); function && isNil(f.typeOf(x)) && (isCompiled(t) || isMade(f.typ(t))) {
		return f.conversionType(t) + "(nil)"
	}
	return f.exprTo(x, t)
}

// leave emits the return of values, which have the types of the results, from the function of Go. If
// there are results but no values, the results are already assigned.
func (f *function) leave(w *writer, values []string) {
	fr := f.frame
	if fr.exit == byReturn {
		w.line("%s", strings.TrimSpace("return "+list(values)))
		return
	}
	for i, value := range values {
		if value != fr.variables[i] {
			w.line("%s = %s", fr.variables[i], value)
		}
	}
	if fr.exit == byYield {
		fr.iteration.returns = true
		w.line("%s = %d", fr.iteration.state, leftByReturn)
		w.line("return false")
		return
	}
	w.line("return")
}

// goFrame returns the frame of a Go function that encloses the current frame.
func (f *function) goFrame() *frame {
	fr := f.frame
	for fr.exit == byYield {
		fr = fr.outer
	}
	return fr
}

func list(items []string) string { return strings.Join(items, ", ") }
