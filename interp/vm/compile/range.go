package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/quernlab/quern/interp/vm"
)

// rangeLoop compiles one range statement.
type rangeLoop struct {
	c      *compiler
	s      *ast.RangeStmt
	target *target

	both    bool // see assignsBoth
	key     operand
	keyType types.Type
}

// assignsBoth reports whether a range statement assigns to two variables of which the second may depend on the first, as in
// for i, a[i] = range s.
func assignsBoth(s *ast.RangeStmt) bool {
	_, plain := s.Value.(*ast.Ident)
	return s.Tok == token.ASSIGN && isUsed(s.Key) && isUsed(s.Value) && !plain
}

// assignBoth assigns values of the types from to the iteration variables of s, whose operands it evaluates before.
func (c *compiler) assignBoth(s *ast.RangeStmt, values [2]operand, from [2]types.Type) {
	if !c.checkedByStore(s.Key) && c.hasCalls(s.Value) {
		c.fail(s, "a call in the second variable of a range statement")
	}
	var locations [2]location
	for i, e := range []ast.Expr{s.Key, s.Value} {
		locations[i] = c.snapshotLocation(c.locate(e))
	}
	for i, e := range []ast.Expr{s.Key, s.Value} {
		c.set(locations[i], c.converted(s, values[i], from[i], c.typeOf(e), nil))
	}
}

// isUsed reports whether an iteration variable is present and not blank.
func isUsed(e ast.Expr) bool { return e != nil && !isBlank(e) }

// assign assigns the value x of type t to the iteration variable e.
func (r *rangeLoop) assign(e ast.Expr, x operand, t types.Type) {
	if !isUsed(e) {
		return
	}
	c := r.c
	switch {
	case r.both && e == r.s.Key:
		r.key, r.keyType = c.snapshot(x), t
		return
	case r.both:
		c.assignBoth(r.s, [2]operand{r.key, c.snapshot(x)}, [2]types.Type{r.keyType, t})
		return
	}
	if r.s.Tok == token.DEFINE {
		if v := c.declaredVariable(e); v != nil {
			s := c.shape(e, c.subst(v.Type()))
			if s.File != vm.Memory && !c.facts.Escapes(v) && !c.facts.Assigned(v) {
				c.variables[v] = &variable{Shape: s, reg: x.reg} // it does not change before the next iteration
				return
			}
			c.initialize(v, c.reserve(v, s), x)
			return
		}
	}
	c.set(c.locate(e), c.converted(r.s, x, t, c.typeOf(e), nil))
}

// body compiles the body of the loop. assign assigns to the iteration variables.
func (r *rangeLoop) body(assign func()) {
	c := r.c
	m := c.mark()
	assign()
	c.targets = append(c.targets, r.target)
	c.block(r.s.Body.List)
	c.targets = c.targets[:len(c.targets)-1]
	c.release(m)
	c.bind(r.target.next)
	c.setPosition(r.s)
}

// count compiles a loop with a hidden index from 0 to the value in register n.
func (r *rangeLoop) count(n uint16, assign func(index operand)) {
	c := r.c
	index := c.temporary(intShape)
	c.do(vm.OpConst, index.reg, 0, 0)
	c.jump(r.target.exit, vm.OpIfLeI, n, index.reg, 0)
	begin := newLabel()
	c.bind(begin)
	r.body(func() { assign(index) })
	c.jump(begin, vm.OpLoopAddLt, index.reg, n, 1)
}

func (r *rangeLoop) integers() {
	c := r.c
	t := types.Default(c.typeOf(r.s.X))
	if isUsed(r.s.Key) && !types.IsInterface(c.typeOf(r.s.Key)) {
		t = c.typeOf(r.s.Key)
	}
	n := c.snapshot(c.exprTo(r.s.X, t, nil))
	if n.Width == "64" && !isSigned(n.Type.Kind()) {
		// No loop ends after more iterations than an int64 can count.
		x := c.temporary(n.Shape)
		from, at := n.reg, x.reg
		c.native("range over "+n.Type.String(), &vm.Native{Run: func(_ *vm.Thread, nb, _ unsafe.Pointer) {
			*vm.IntAt(nb, at) = int64(min(uint64(*vm.IntAt(nb, from)), math.MaxInt64))
		}})
		n = x
	}
	r.count(n.reg, func(index operand) {
		index.Shape = n.Shape
		r.assign(r.s.Key, index, t)
	})
}

func (r *rangeLoop) slice(elem types.Type) {
	c := r.c
	x := c.snapshot(c.expr(r.s.X, nil))
	n := c.scalarRegister()
	c.do(vm.OpLen, n, x.reg, 0)
	elem = c.subst(elem)
	s := c.shape(r.s, elem)
	r.count(n, func(index operand) {
		r.assign(r.s.Key, index, types.Typ[types.Int])
		if isUsed(r.s.Value) {
			v := c.get(location{kind: inSliceElement, Shape: s, reg: x.reg, index: index.reg}, nil)
			r.assignOwned(r.s.Value, v, elem)
		}
	})
}

// assignOwned is assign for a value in a temporary register, which may become the register of the variable.
func (r *rangeLoop) assignOwned(e ast.Expr, x operand, t types.Type) {
	c := r.c
	if v := c.declaredVariable(e); v != nil && r.s.Tok == token.DEFINE && x.File != vm.Memory && (!c.facts.Escapes(v) || c.copied(v, x.Shape)) {
		c.variables[v] = &variable{Shape: x.Shape, reg: x.reg}
		return
	}
	r.assign(e, x, t)
}

// array ranges over a copy of the array if the statement uses its elements.
func (r *rangeLoop) array(t *types.Array) {
	c := r.c
	if r.overLength(t) {
		return
	}
	x := c.expr(r.s.X, nil)
	if isUsed(r.s.Value) {
		x = c.own(operand{Shape: x.Shape, reg: x.reg, offset: x.offset}, nil)
	}
	r.arrayAt(x, t)
}

func (r *rangeLoop) arrayPointer(t *types.Array) {
	c := r.c
	if r.overLength(t) {
		return
	}
	x := c.snapshot(c.expr(r.s.X, nil))
	x.Shape = c.shape(r.s, c.typeOf(r.s.X).Underlying().(*types.Pointer).Elem())
	r.arrayAt(x, t)
}

// overLength compiles a range over an array whose elements are not used, and reports whether it did. As in
// Go, x is not evaluated if it contains no call.
func (r *rangeLoop) overLength(t *types.Array) bool {
	c := r.c
	if isUsed(r.s.Value) || c.hasCalls(r.s.X) {
		return false
	}
	n := c.scalarRegister()
	c.constantBits(n, t.Len())
	r.count(n, func(index operand) { r.assign(r.s.Key, index, types.Typ[types.Int]) })
	return true
}

func (r *rangeLoop) arrayAt(x operand, t *types.Array) {
	c := r.c
	n := c.scalarRegister()
	c.constantBits(n, t.Len())
	elem := c.subst(t.Elem())
	s := c.shape(r.s, elem)
	base := c.address(x)
	r.count(n, func(index operand) {
		r.assign(r.s.Key, index, types.Typ[types.Int])
		if isUsed(r.s.Value) {
			at := c.arrayAddress(base, index, int64(s.Type.Size()), t.Len())
			r.assign(r.s.Value, c.load(s, at, 0, nil), elem)
		}
	})
}

// runes compiles a range over a string.
func (r *rangeLoop) runes() {
	c := r.c
	x := c.snapshot(c.expr(r.s.X, nil))
	n := c.scalarRegister()
	c.do(vm.OpLen, n, x.reg, 0)
	at, next := c.temporary(intShape), c.temporary(intShape)
	char := c.temporary(vm.Shape{File: vm.Scalar, Width: "32S", Type: reflect.TypeFor[rune]()})
	c.do(vm.OpConst, next.reg, 0, 0)
	c.jump(r.target.exit, vm.OpIfLeI, n, next.reg, 0)
	begin := newLabel()
	c.bind(begin)
	c.do(vm.OpMov, at.reg, next.reg, 0)
	from, begins, ends, to := x.reg, at.reg, next.reg, char.reg
	c.native("next rune", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		i := *vm.IntAt(nb, begins)
		s := (*vm.StringAt(sb, from))[i:]
		if s[0] < utf8.RuneSelf {
			*vm.IntAt(nb, to), *vm.IntAt(nb, ends) = int64(s[0]), i+1
			return
		}
		v, size := utf8.DecodeRuneInString(s)
		*vm.IntAt(nb, to), *vm.IntAt(nb, ends) = int64(v), i+int64(size)
	}})
	r.body(func() {
		r.assign(r.s.Key, at, types.Typ[types.Int])
		r.assign(r.s.Value, char, types.Typ[types.Rune])
	})
	c.jump(begin, vm.OpLoopLtI, next.reg, n, 0)
}

// entries compiles a range over a map.
func (r *rangeLoop) entries(t *types.Map) {
	c := r.c
	m := c.expr(r.s.X, nil)
	a := c.mapAccess(r.s, t)
	state := c.referenceRegister()
	withKey, withElem := isUsed(r.s.Key), isUsed(r.s.Value)
	c.native(a.Name("range"), a.Begin(state, m.reg, withKey, withElem))
	more := c.scalarRegister()
	key, elem := c.temporary(a.Key), c.temporary(a.Elem)
	c.jump(r.target.next, vm.OpJmp, 0, 0, 0)
	begin := newLabel()
	c.bind(begin)
	r.body(func() {
		r.assign(r.s.Key, key, c.subst(t.Key()))
		r.assign(r.s.Value, elem, c.subst(t.Elem()))
	})
	c.native(a.Name("next"), a.Next(state, more, key.reg, elem.reg))
	c.jump(begin, vm.OpLoopIf, more, 0, 0)
}
