package lower

// Facts about a function that must be known before its first statement is lowered.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/vm"
)

// facts are facts about the variables of one function and its literals.
type facts struct {
	// shared variables are captured by a function literal, or have their address taken:
	// each execution of their declaration must create a new variable.
	shared map[types.Object]bool
	// changed variables are assigned to after their declaration.
	changed map[types.Object]bool
	// counters are integers that start at a non-negative constant, or are defined by a
	// range, and are only increased afterwards.
	counters map[types.Object]bool
	// jumps reports whether there are goto statements, so that any statement may run
	// more than once.
	jumps bool
	// short are the calls whose result does not escape, see vm.SliceCapacities.
	short map[*ast.CallExpr]vm.Capacity
	// jumpLabels are the labels of goto statements.
	jumpLabels map[string]bool
}

// study computes the facts of the function with the given body. outside are variables that only body
// uses but does not declare.
func (f *function) study(body ast.Node, outside ...*types.Var) {
	facts := &facts{shared: map[types.Object]bool{}, changed: map[types.Object]bool{}, counters: map[types.Object]bool{}, jumpLabels: map[string]bool{}, short: vm.SliceCapacities(f.Info, body, outside...)}
	f.facts = facts
	owner := map[types.Object]*ast.FuncLit{}
	share := func(e ast.Expr) {
		if o := f.root(e); o != nil {
			facts.shared[o], facts.changed[o] = true, true
		}
	}
	change := func(e ast.Expr) {
		if o := f.root(e); o != nil {
			facts.changed[o] = true
		}
	}
	var walk func(n ast.Node, lit *ast.FuncLit)
	walk = func(n ast.Node, lit *ast.FuncLit) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				if n == lit {
					return true
				}
				walk(n, n)
				return false
			case *ast.CaseClause:
				if o := f.Info.Implicits[n]; o != nil {
					owner[o] = lit
				}
			case *ast.Ident:
				if o := f.Info.Defs[n]; o != nil {
					owner[o] = lit
				} else if o, ok := f.Info.Uses[n].(*types.Var); ok {
					if at, local := owner[o]; local && at != lit {
						facts.shared[o] = true
					}
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					share(n.X)
				}
			case *ast.SliceExpr:
				if _, ok := f.coreOf(n.X).(*types.Array); ok {
					share(n.X)
				}
			case *ast.SelectorExpr:
				// It may be a method with a pointer receiver, also of a type argument.
				if sel := f.Info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal {
					share(n.X)
				}
			case *ast.AssignStmt:
				f.noteCounters(n)
				for _, lhs := range n.Lhs {
					if id, ok := lhs.(*ast.Ident); !ok || f.Info.Defs[id] == nil {
						change(lhs)
					}
				}
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					change(n.Key)
					change(n.Value)
				}
				if v := f.defined(n.Key); v != nil && isInteger(v.Type()) {
					switch f.coreOf(n.X).(type) {
					case *types.Map, *types.Chan, *types.Signature:
					default:
						facts.counters[v] = true
					}
				}
			case *ast.IncDecStmt:
				change(n.X)
				if id, ok := n.X.(*ast.Ident); ok && n.Tok == token.DEC {
					delete(facts.counters, f.Info.Uses[id])
				}
			case *ast.BranchStmt:
				if n.Tok == token.GOTO {
					facts.jumps = true
					facts.jumpLabels[n.Label.Name] = true
				}
			}
			return true
		})
	}
	walk(body, nil)
	for o := range facts.counters {
		if facts.shared[o] {
			delete(facts.counters, o)
		}
	}
}

// noteCounters updates facts.counters for an assignment.
func (f *function) noteCounters(s *ast.AssignStmt) {
	for i, lhs := range s.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok {
			continue
		}
		v, _ := f.Info.ObjectOf(id).(*types.Var)
		if v == nil || !isInteger(v.Type()) {
			continue
		}
		positive := false
		if len(s.Lhs) == len(s.Rhs) {
			value := f.Info.Types[s.Rhs[i]].Value
			positive = value != nil && value.Kind() == constant.Int && constant.Sign(value) >= 0
		}
		switch {
		case s.Tok == token.DEFINE && f.defined(lhs) != nil:
			f.facts.counters[v] = positive
		case !positive || s.Tok != token.ASSIGN && s.Tok != token.ADD_ASSIGN && s.Tok != token.MUL_ASSIGN && s.Tok != token.QUO_ASSIGN:
			f.facts.counters[v] = false
		}
	}
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// root returns the variable whose storage contains e, or nil if e is reached through a pointer or is
// not in a variable.
func (f *function) root(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		o, _ := f.Info.ObjectOf(e).(*types.Var)
		if o == nil {
			return nil
		}
		return o
	case *ast.ParenExpr:
		return f.root(e.X)
	case *ast.SelectorExpr:
		if _, pointer := f.coreOf(e.X).(*types.Pointer); pointer {
			return nil
		}
		return f.root(e.X)
	case *ast.IndexExpr:
		if _, array := f.coreOf(e.X).(*types.Array); array {
			return f.root(e.X)
		}
	}
	return nil
}

// coreOf returns the underlying type of an expression, or nil for a package name.
func (f *function) coreOf(e ast.Expr) types.Type {
	if t := f.typeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}

// shape describes the statements of a body, outside of function literals.
type shape struct {
	defers         bool
	rangesOverFunc bool
}

func (f *function) shape(body []ast.Stmt) (s shape) {
	for _, stmt := range body {
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt:
				s.defers = true
			case *ast.RangeStmt:
				if _, ok := f.coreOf(n.X).(*types.Signature); ok {
					s.rangesOverFunc = true
				}
			}
			return true
		})
	}
	return s
}

// repeats reports whether the current statement may run more than once in one activation, so that
// a variable declared in it may exist several times.
func (f *function) repeats() bool { return f.frame.loops > 0 || f.facts.jumps }
