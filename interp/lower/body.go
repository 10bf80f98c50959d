package lower

// The statements of a cell become a function. yaegi copies all variables of a function for each
// function literal in it, and compiles a function as a whole. So many statements are distributed
// over functions of limited size:
//
//	s1; ...; s1000  ->  func bodyʹ3ʹ1() { bodyʹ3ʹpartʹ1(); ...; bodyʹ3ʹpartʹ20() }
//	                    func bodyʹ3ʹpartʹ1() { s1; ...; s50 }
//
// The calls that register method tables are distributed in the same way.

import (
	"go/ast"
	"go/token"
	"go/types"
)

// partSize is the number of statements of a part.
const partSize = 50

// body emits the function that runs the cell.
func (e *emitter) body(name string) {
	f := e.function(nil)
	f.top = true
	f.facts = e.bodyFacts
	for _, v := range e.cell.Vars {
		f.globals[v] = true
	}
	w := &e.out
	w.open("func %s() {", name)
	f.activation(w, noParameters, e.cell.Body, func(w *writer) {
		steps := f.steps()
		// A goto leads from one step to another, and recover belongs to the function that
		// contains it.
		if len(steps) <= 2*partSize || len(f.facts.JumpLabels) > 0 || f.frame.recovers != "" {
			for _, step := range steps {
				step.lower(w)
			}
			return
		}
		for start := 0; start < len(steps); {
			end := start
			for last := start; end < len(steps) && (end < start+partSize || end <= last); end++ {
				last = max(last, steps[end].until)
			}
			f.part(w, steps[start:end])
			start = end
		}
	})
	w.close("}")
}

// A step is one statement of the body of a cell.
type step struct {
	lower func(w *writer)
	until int // the last step that uses a local variable that this step defines
}

// steps returns the initializers and the statements of a cell.
func (f *function) steps() (list []step) {
	zero := f.withoutInitializer()
	until := func(w *writer, end token.Pos) {
		n := 0
		for n < len(zero) && (end == token.NoPos || zero[n].Pos() < end) {
			n++
		}
		f.reached(w, zero[:n]...)
		zero = zero[n:]
	}
	for _, init := range f.cell.Init {
		list = append(list, step{lower: func(w *writer) {
			until(w, init.Rhs.Pos())
			f.statements(w, f.before[init])
			if s := f.assignments[init]; s == nil || !f.runsOnMachine(w, s) {
				f.initializer(w, init)
			}
			f.reached(w, init.Lhs...)
		}})
	}
	list = append(list, step{lower: func(w *writer) { until(w, token.NoPos) }})
	defined := map[types.Object]int{} // the steps that define local variables
	for i, s := range f.cell.Body {
		lower := func(w *writer) {
			f.beforeNext(w, s)
			f.unread(w, s)
			if f.runsOnMachine(w, s) {
				f.reachedBy(w, s)
			} else {
				f.statement(w, s)
			}
		}
		if last, ok := s.(*ast.ExprStmt); ok && i == len(f.cell.Body)-1 && len(f.cell.Result) > 0 {
			lower = func(w *writer) { f.beforeNext(w, last); f.result(w, last.X) }
		}
		if len(defined) > 0 {
			ast.Inspect(s, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if at, ok := defined[f.Info.Uses[id]]; ok {
						list[at].until = len(list)
					}
				}
				return true
			})
		}
		f.eachDefined(s, func(v *types.Var) { defined[v] = len(list) })
		list = append(list, step{lower: lower})
	}
	return append(list, step{lower: func(w *writer) { f.beforeNext(w, nil) }})
}

// eachDefined calls yield for each variable that s defines and that is not a variable of the session.
func (f *function) eachDefined(s ast.Stmt, yield func(*types.Var)) {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return
	}
	for _, e := range assign.Lhs {
		if id, ok := e.(*ast.Ident); ok {
			if v, ok := f.Info.Defs[id].(*types.Var); ok && !f.globals[v] {
				yield(v)
			}
		}
	}
}

// part moves steps to a new function, and emits its call.
func (f *function) part(w *writer, steps []step) {
	name := f.freshOf("body", "ʹpart")
	f.once = append(f.once, name)
	p, parameter := &f.parts, ""
	if f.frame.deferred != "" {
		parameter = f.frame.deferred + " *" + f.importAs("quern/rt", "rtʹ") + ".Deferred"
	}
	p.open("func %s(%s) {", name, parameter)
	f.positioned(p, func(w *writer) {
		f.interruptible(w)
		for _, step := range steps {
			step.lower(w)
		}
	})
	p.close("}")
	w.line("%s(%s)", name, f.frame.deferred)
}

// register emits the functions that register method tables, and returns the name of the one to
// call, or "" if there are none.
func (e *emitter) register() string {
	lines := e.registers
	for len(lines) > partSize {
		var calls []string
		for len(lines) > 0 {
			n := min(partSize, len(lines))
			calls = append(calls, e.registerFunction(lines[:n])+"()")
			lines = lines[n:]
		}
		lines = calls
	}
	if len(lines) == 0 {
		return ""
	}
	return e.registerFunction(lines)
}

func (e *emitter) registerFunction(lines []string) string {
	name := e.freshOf("register", "")
	e.once = append(e.once, name)
	e.out.open("func %s() {", name)
	for _, line := range lines {
		e.out.line("%s", line)
	}
	e.out.close("}")
	return name
}
