package facts

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Capacities of slices that do not escape. Go's compiler gives them a buffer of 32 bytes, or of 32 runes,
// on the stack, which shows in their capacity:
//
//	var s []int; s = append(s, 1)    // cap(s) is 4, and 1 if s escapes
//	r := []rune("é" + text)          // cap(r) is 32 if r does not escape
//
// The escape analysis of Go's compiler also follows calls, and moves a slice to the heap where it is
// returned. This one is simpler: a slice escapes unless it is only assigned to variables of the function,
// indexed, sliced, ranged over, copied, compared with nil or converted to a string.

// Capacity says what determines the capacity of a new slice.
type Capacity int

const (
	Allocated Capacity = iota // by the allocator
	Buffered                  // of the stack buffer
	Exact                     // the length: Go uses the bytes of the string if nothing modifies them
)

// StackBuffer is the size in bytes of the buffer of an append.
const StackBuffer = 32

// sliceCapacities finds the calls of append, and the conversions to []byte and []rune, in body whose
// results do not escape. outside are variables that are declared elsewhere but used only in body.
func sliceCapacities(info *types.Info, body ast.Node, outside ...*types.Var) map[*ast.CallExpr]Capacity {
	w := &capacityAnalysis{info: info, owner: map[*types.Var]*ast.FuncLit{}, escapes: map[*types.Var]bool{}, modified: map[*types.Var]bool{}, flowsTo: map[*types.Var][]*types.Var{}, targets: map[*ast.CallExpr]*types.Var{}}
	for _, v := range outside {
		if isSliceType(v.Type()) {
			w.owner[v] = nil
		}
	}
	w.declare(body, nil)
	w.walk(body)
	if len(w.targets) == 0 {
		return nil
	}
	for changed := true; changed; {
		changed = false
		for v, targets := range w.flowsTo {
			for _, to := range targets {
				for _, fact := range []map[*types.Var]bool{w.escapes, w.modified} {
					if !fact[v] && fact[to] {
						fact[v], changed = true, true
					}
				}
			}
		}
	}
	short := map[*ast.CallExpr]Capacity{}
	firstAppend := map[*types.Var]bool{} // the compiler does this only for the first append to a variable
	for _, call := range w.calls {
		to := w.targets[call]
		if w.escapes[to] {
			continue
		}
		short[call] = Buffered
		if t := w.info.Types[call.Fun]; t.IsType() && !w.modified[to] && !w.resultModified[call] && isBytes(t.Type) {
			short[call] = Exact
		}
		if v := w.appendTarget(call); v != nil {
			if firstAppend[v] {
				delete(short, call)
			}
			firstAppend[v] = true
		}
	}
	return short
}

type capacityAnalysis struct {
	info           *types.Info
	owner          map[*types.Var]*ast.FuncLit // function literal that declares a variable of body; nil for body itself
	escapes        map[*types.Var]bool
	modified       map[*types.Var]bool          // variables whose elements are modified
	resultModified map[*ast.CallExpr]bool       // calls whose result is modified directly
	flowsTo        map[*types.Var][]*types.Var  // the variables that a variable is assigned to
	targets        map[*ast.CallExpr]*types.Var // candidates, and the variable that gets the result; nil if there is none
	calls          []*ast.CallExpr
	stack          []ast.Node
	literals       []*ast.FuncLit
}

// declare records the variables that n declares. lit is the function literal that contains them.
func (w *capacityAnalysis) declare(n ast.Node, lit *ast.FuncLit) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if n != lit {
				w.declare(n, n)
				return false
			}
			if n.Type.Params != nil {
				return true
			}
		case *ast.Ident:
			if v, ok := w.info.Defs[n].(*types.Var); ok && isSliceType(v.Type()) {
				w.owner[v] = lit
			}
		}
		return true
	})
}

func isSliceType(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isBytes(t types.Type) bool {
	b, ok := t.Underlying().(*types.Slice).Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

func (w *capacityAnalysis) walk(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := w.stack[len(w.stack)-1].(*ast.FuncLit); ok {
				w.literals = w.literals[:len(w.literals)-1]
			}
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			w.literals = append(w.literals, n)
		case *ast.Ident:
			if v, ok := w.info.Uses[n].(*types.Var); ok {
				w.use(n, v)
			}
		case *ast.CallExpr:
			if w.mayBeShort(n) {
				if to, stays := w.destination(n); stays {
					if w.modifies(n) {
						if w.resultModified == nil {
							w.resultModified = map[*ast.CallExpr]bool{}
						}
						w.resultModified[n] = true
					}
					w.targets[n] = to
					w.calls = append(w.calls, n)
				}
			}
		}
		w.stack = append(w.stack, n)
		return true
	})
}

// mayBeShort reports whether a call is an append of elements, or a conversion, that may allocate a short
// slice.
func (w *capacityAnalysis) mayBeShort(call *ast.CallExpr) bool {
	tv := w.info.Types[call.Fun]
	if tv.IsType() && len(call.Args) == 1 {
		from := w.info.Types[call.Args[0]]
		_, text := from.Type.Underlying().(*types.Basic)
		return text && isSliceType(tv.Type)
	}
	return w.isBuiltin(call, "append") && !call.Ellipsis.IsValid() && len(call.Args) > 1
}

func (w *capacityAnalysis) isBuiltin(call *ast.CallExpr, names ...string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || !w.info.Types[call.Fun].IsBuiltin() {
		return false
	}
	for _, name := range names {
		if id.Name == name {
			return true
		}
	}
	return false
}

// appendTarget returns the variable that a call appends to, or nil.
func (w *capacityAnalysis) appendTarget(call *ast.CallExpr) *types.Var {
	if !w.info.Types[call.Fun].IsBuiltin() {
		return nil
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := w.info.Uses[id].(*types.Var)
	return v
}

// use records how a variable is used.
func (w *capacityAnalysis) use(id *ast.Ident, v *types.Var) {
	lit, declared := w.owner[v]
	if !declared {
		return
	}
	var here *ast.FuncLit
	if len(w.literals) > 0 {
		here = w.literals[len(w.literals)-1]
	}
	to, stays := w.destination(id)
	if w.modifies(id) {
		w.modified[v] = true
	}
	switch {
	case here != lit || !stays:
		w.escapes[v] = true
	case to != nil && to != v:
		w.flowsTo[v] = append(w.flowsTo[v], to)
	}
}

// modifies reports whether the context of e modifies the elements of the slice e, or appends to it.
func (w *capacityAnalysis) modifies(e ast.Expr) bool {
	for i := len(w.stack) - 1; i >= 0; i-- {
		switch parent := w.stack[i].(type) {
		case *ast.ParenExpr:
			e = parent
		case *ast.SliceExpr:
			e = parent
		case *ast.IndexExpr:
			if parent.X != e {
				return false
			}
			e = parent
		case *ast.CallExpr:
			return w.isBuiltin(parent, "append", "copy", "clear") && parent.Args[0] == e
		case *ast.IncDecStmt:
			return true
		case *ast.RangeStmt:
			return parent.X != e
		case *ast.AssignStmt:
			for _, x := range parent.Lhs {
				if _, variable := x.(*ast.Ident); x == e && !variable {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// destination returns the variable that the expression e, whose parents are on the stack, is assigned to,
// or nil. stays is false if e escapes.
func (w *capacityAnalysis) destination(e ast.Expr) (to *types.Var, stays bool) {
	for i := len(w.stack) - 1; i >= 0; i-- {
		switch parent := w.stack[i].(type) {
		case *ast.ParenExpr:
			e = parent
		case *ast.SliceExpr:
			if parent.X != e {
				return nil, true
			}
			e = parent
		case *ast.CallExpr:
			switch {
			case w.isBuiltin(parent, "len", "cap", "copy", "clear"):
				return nil, true
			case w.isBuiltin(parent, "append"):
				if parent.Args[0] != e {
					return nil, parent.Ellipsis.IsValid()
				}
				e = parent
			case w.info.Types[parent.Fun].IsType():
				_, text := w.info.Types[parent.Fun].Type.Underlying().(*types.Basic)
				return nil, text
			default:
				return nil, false
			}
		case *ast.IndexExpr:
			if i > 0 {
				if address, ok := w.stack[i-1].(*ast.UnaryExpr); ok && address.Op == token.AND {
					return nil, false
				}
			}
			return nil, true
		case *ast.BinaryExpr: // comparison with nil
			return nil, true
		case *ast.IncDecStmt:
			return nil, true
		case *ast.RangeStmt:
			return nil, parent.X == e || parent.Key == e || parent.Value == e
		case *ast.AssignStmt:
			return w.assignmentTarget(e, parent.Lhs, parent.Rhs)
		case *ast.ValueSpec:
			lhs := make([]ast.Expr, len(parent.Names))
			for i, name := range parent.Names {
				lhs[i] = name
			}
			return w.assignmentTarget(e, lhs, parent.Values)
		default:
			return nil, false
		}
	}
	return nil, false
}

// assignmentTarget is destination for an assignment.
func (w *capacityAnalysis) assignmentTarget(e ast.Expr, lhs, rhs []ast.Expr) (*types.Var, bool) {
	for _, x := range lhs {
		if x == e {
			return nil, true
		}
	}
	if len(lhs) != len(rhs) {
		return nil, false
	}
	for i, x := range rhs {
		id, ok := ast.Unparen(lhs[i]).(*ast.Ident)
		if x != e || !ok {
			continue
		}
		if id.Name == "_" {
			return nil, true
		}
		v, _ := w.info.ObjectOf(id).(*types.Var)
		_, declared := w.owner[v]
		return v, declared
	}
	return nil, false
}
