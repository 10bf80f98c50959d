package lower

// Range over a function. The body becomes a function that sets a variable, the state of the loop, to the way
// in which it was left:
//
//	for x := range seq {          s := 0
//		if x == 1 { continue }    seq(func(x int) bool {
//		if x == 2 { break }           if s != 0 { panic(...) }
//		if x == 3 { return 7 }        s = -1
//		if x == 4 { break outer } ->  if x == 1 { s = 0; return true }
//	}                                 if x == 2 { s = 1; return false }
//	                                  if x == 3 { r1 = 7; s = 2; return false }
//	                                  if x == 4 { s = 3; return false }
//	                                  s = 0; return true
//	                              })
//	                              if s == -1 { panic(...) }, the body's panic was recovered
//	                              how := s; s = -2
//	                              if how == 2 { return r1 }
//	                              if how == 3 { break outer }
//
// Results of the enclosing function are assigned to variables. A defer statement in the body pushes onto the
// list of the enclosing function.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/rt"
)

// States of a loop. A branch to another target has a number above leftByReturn. Package rt uses the states
// below zero, see rt.RangeExited.
const (
	ended        = rt.RangeEnded
	running      = rt.RangeRunning // the body is running, or has panicked
	ready        = 0
	left         = 1 // by break
	leftByReturn = 2
)

// iteration is a range over a function.
type iteration struct {
	frame   *frame // of its body
	body    *ast.BlockStmt
	state   string // the variable with the state
	returns bool   // the body has a return statement
	exits   []exitTo
}

// exitTo is a branch out of the body, to a statement that encloses the loop or, for goto, to a label.
type exitTo struct {
	tok   token.Token
	to    *target
	label *types.Label
}

// exit returns the state of a branch.
func (it *iteration) exit(e exitTo) int {
	i := slices.Index(it.exits, e)
	if i < 0 {
		i = len(it.exits)
		it.exits = append(it.exits, e)
	}
	return leftByReturn + 1 + i
}

func (f *function) rangeFunc(w *writer, s *ast.RangeStmt, label string, sig *types.Signature) {
	yield := sig.Params().At(0).Type().Underlying().(*types.Signature)
	x := operand(f.expr(s.X))
	outer := f.frame
	it := &iteration{body: s.Body, state: f.temp()}
	it.frame = &frame{
		outer: outer, results: outer.results, variables: outer.variables, named: outer.named,
		exit: byYield, deferred: outer.deferred, recovers: outer.recovers, iteration: it,
	}
	w.open("{")
	w.line("var %s int = 0", it.state)
	f.push(&target{label: label, loop: true, iteration: it})

	var parameters []string
	var set []func(*writer)
	for i := range yield.Params().Len() {
		from := yield.Params().At(i).Type()
		typ := f.typ(from)
		var e ast.Expr
		if i == 0 {
			e = s.Key
		} else {
			e = s.Value
		}
		if e == nil || isBlank(e) {
			parameters = append(parameters, f.temp()+" "+typ)
			continue
		}
		v := f.defined(e)
		if v != nil && !f.globals[v] {
			parameters = append(parameters, f.declare(v)+" "+typ)
			continue
		}
		t := f.temp()
		parameters = append(parameters, t+" "+typ)
		set = append(set, func(w *writer) { w.line("%s = %s", f.expr(e), f.convert(t, from, f.targetType(e))) })
	}
	w.open("%s(func(%s) bool {", x, list(parameters))
	f.frame = it.frame
	f.positioned(w, func(w *writer) {
		before := f.temp()
		w.open("if %s != %d {", it.state, ready)
		w.line("%s := %s", before, it.state)
		w.line("%s = %d", it.state, running)
		w.line("panic(%s)", f.rt("RangeExited", before))
		w.close("}")
		w.line("%s = %d", it.state, running)
		f.interruptible(w)
		for _, set := range set {
			set(w)
		}
		f.lost(w, s)
		f.statements(w, s.Body.List)
		w.line("%s = %d", it.state, ready)
		w.line("return true")
	})
	f.frame = outer
	f.pop()
	w.close("})")
	w.line("if %s == %d { panic(%s) }", it.state, running, f.rt("RangeSwallowed"))
	how := f.temp()
	w.line("var %s int = %s", how, it.state)
	w.line("%s = %d", it.state, ended)
	if it.returns {
		w.open("if %s == %d {", how, leftByReturn)
		f.leave(w, outer.variables)
		w.close("}")
	}
	for i, e := range it.exits {
		w.open("if %s == %d {", how, leftByReturn+1+i)
		if e.tok == token.GOTO {
			f.jump(w, e.label)
		} else {
			f.leaveTo(w, e.tok, e.to)
		}
		w.close("}")
	}
	w.close("}")
}
