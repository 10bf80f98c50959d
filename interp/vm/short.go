package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Capacities of slices that do not leave their function. The compiler of Go gives them a buffer of 32 bytes, or of 32 runes,
// on the stack, which shows in their capacity:
//
//	var s []int; s = append(s, 1)    // cap(s) is 4, and 1 where s escapes
//	r := []rune("é" + text)          // cap(r) is 32 where r does not escape
//
// The compiler's escape analysis also follows calls, and moves a slice that escapes at its return only. This one takes every
// slice for escaping that is not just assigned to variables of the function, indexed, sliced, ranged over, copied, compared
// with nil or converted to a string.

// Capacity is what decides on the capacity of a new slice.
type Capacity int

const (
	Allocated Capacity = iota // what the allocator gives
	Buffered                  // the buffer on the stack
	Exact                     // the length: bytes of a string that nothing changes are those of the string
)

// shortBytes is the size of the buffer of an append, shortRunes the length of that of a conversion.
const (
	shortBytes = 32
	shortRunes = 32
)

// ShortSlices finds the calls of append, and the conversions to []byte and []rune, in body whose result does not leave it.
// outside are variables that only body uses and does not declare.
func ShortSlices(info *types.Info, body ast.Node, outside ...*types.Var) map[*ast.CallExpr]Capacity {
	w := &shortSlices{info: info, owner: map[*types.Var]*ast.FuncLit{}, escapes: map[*types.Var]bool{}, changed: map[*types.Var]bool{}, flows: map[*types.Var][]*types.Var{}, results: map[*ast.CallExpr]*types.Var{}}
	for _, v := range outside {
		if isSliceType(v.Type()) {
			w.owner[v] = nil
		}
	}
	w.declare(body, nil)
	w.walk(body)
	if len(w.results) == 0 {
		return nil
	}
	for changed := true; changed; {
		changed = false
		for v, targets := range w.flows {
			for _, to := range targets {
				for _, fact := range []map[*types.Var]bool{w.escapes, w.changed} {
					if !fact[v] && fact[to] {
						fact[v], changed = true, true
					}
				}
			}
		}
	}
	short := map[*ast.CallExpr]Capacity{}
	first := map[*types.Var]bool{} // the compiler does so for the first append to a variable
	for _, call := range w.order {
		to := w.results[call]
		if w.escapes[to] {
			continue
		}
		short[call] = Buffered
		if t := w.info.Types[call.Fun]; t.IsType() && !w.changed[to] && !w.direct[call] && isBytes(t.Type) {
			short[call] = Exact
		}
		if v := w.appended(call); v != nil {
			if first[v] {
				delete(short, call)
			}
			first[v] = true
		}
	}
	return short
}

type shortSlices struct {
	info    *types.Info
	owner   map[*types.Var]*ast.FuncLit // of variables that body declares
	escapes map[*types.Var]bool
	changed map[*types.Var]bool          // their elements are
	direct  map[*ast.CallExpr]bool       // the elements of the result itself are
	flows   map[*types.Var][]*types.Var  // to which variables one is assigned
	results map[*ast.CallExpr]*types.Var // of calls that may be short; nil if no variable gets the result
	order   []*ast.CallExpr
	stack   []ast.Node
	lits    []*ast.FuncLit
}

// declare finds the variables that n, which belongs to a literal, declares.
func (w *shortSlices) declare(n ast.Node, lit *ast.FuncLit) {
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

func (w *shortSlices) walk(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := w.stack[len(w.stack)-1].(*ast.FuncLit); ok {
				w.lits = w.lits[:len(w.lits)-1]
			}
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			w.lits = append(w.lits, n)
		case *ast.Ident:
			if v, ok := w.info.Uses[n].(*types.Var); ok {
				w.use(n, v)
			}
		case *ast.CallExpr:
			if w.makes(n) {
				if to, stays := w.destination(n); stays {
					if w.changes(n) {
						if w.direct == nil {
							w.direct = map[*ast.CallExpr]bool{}
						}
						w.direct[n] = true
					}
					w.results[n] = to
					w.order = append(w.order, n)
				}
			}
		}
		w.stack = append(w.stack, n)
		return true
	})
}

// makes reports whether a call is an append of elements, or a conversion, that may allocate a short slice.
func (w *shortSlices) makes(call *ast.CallExpr) bool {
	tv := w.info.Types[call.Fun]
	if tv.IsType() && len(call.Args) == 1 {
		from := w.info.Types[call.Args[0]]
		_, text := from.Type.Underlying().(*types.Basic)
		return text && isSliceType(tv.Type)
	}
	return w.isBuiltin(call, "append") && !call.Ellipsis.IsValid() && len(call.Args) > 1
}

func (w *shortSlices) isBuiltin(call *ast.CallExpr, names ...string) bool {
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

// appended returns the variable that a call appends to, nil if there is none.
func (w *shortSlices) appended(call *ast.CallExpr) *types.Var {
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

// use notes where a variable goes.
func (w *shortSlices) use(id *ast.Ident, v *types.Var) {
	lit, declared := w.owner[v]
	if !declared {
		return
	}
	var here *ast.FuncLit
	if len(w.lits) > 0 {
		here = w.lits[len(w.lits)-1]
	}
	to, stays := w.destination(id)
	if w.changes(id) {
		w.changed[v] = true
	}
	switch {
	case here != lit || !stays:
		w.escapes[v] = true
	case to != nil && to != v:
		w.flows[v] = append(w.flows[v], to)
	}
}

// changes reports whether the elements of the slice e are assigned to, or appended to, where it stands.
func (w *shortSlices) changes(e ast.Expr) bool {
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

// destination returns the variable that the expression e, whose parents are on the stack, is assigned to, nil if it is assigned to
// none; and whether it stays in the function.
func (w *shortSlices) destination(e ast.Expr) (to *types.Var, stays bool) {
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
		case *ast.BinaryExpr: // with nil
			return nil, true
		case *ast.IncDecStmt:
			return nil, true
		case *ast.RangeStmt:
			return nil, parent.X == e || parent.Key == e || parent.Value == e
		case *ast.AssignStmt:
			return w.assigned(e, parent.Lhs, parent.Rhs)
		case *ast.ValueSpec:
			lhs := make([]ast.Expr, len(parent.Names))
			for i, name := range parent.Names {
				lhs[i] = name
			}
			return w.assigned(e, lhs, parent.Values)
		default:
			return nil, false
		}
	}
	return nil, false
}

// assigned returns what an assignment does with e.
func (w *shortSlices) assigned(e ast.Expr, lhs, rhs []ast.Expr) (*types.Var, bool) {
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
