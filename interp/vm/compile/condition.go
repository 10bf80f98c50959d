package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/vm"
)

// condition emits a jump to l that is taken if e has the given value. If loop is true, the jump is a backward one, which
// checks for an interrupt.
func (c *compiler) condition(e ast.Expr, value bool, l *label, loop bool) {
	e = ast.Unparen(e)
	if tv := c.source.Info.Types[e]; tv.Value != nil {
		v, _ := bitsOf(tv.Value, reflect.Bool)
		if (v != 0) == value {
			if loop {
				c.jump(l, vm.OpLoop, 0, 0, 0)
			} else {
				c.jump(l, vm.OpJmp, 0, 0, 0)
			}
		}
		return
	}
	m := c.mark()
	defer c.release(m)
	switch x := e.(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			c.condition(x.X, !value, l, loop)
			return
		}
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			if (x.Op == token.LOR) == value {
				c.condition(x.X, value, l, loop)
				c.condition(x.Y, value, l, loop)
				return
			}
			skip := newLabel()
			c.condition(x.X, !value, skip, false)
			c.condition(x.Y, value, l, loop)
			c.bind(skip)
			return
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			if c.compareAndJump(x, value, l, loop) {
				return
			}
		}
	}
	v := c.expr(e, nil)
	switch {
	case !value && loop:
		c.do(vm.OpNotB, c.writableCopy(&v), v.reg, 0)
		c.jump(l, vm.OpLoopIf, v.reg, 0, 0)
	case !value:
		c.jump(l, vm.OpIfNot, v.reg, 0, 0)
	case loop:
		c.jump(l, vm.OpLoopIf, v.reg, 0, 0)
	default:
		c.jump(l, vm.OpIf, v.reg, 0, 0)
	}
}

// writableCopy copies v to a temporary and returns its register.
func (c *code) writableCopy(v *operand) uint16 {
	x := *v
	t := c.temporary(v.Shape)
	c.move(t, x)
	*v = t
	return t.reg
}

var negatedRelations = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

var constantRelationNames = map[token.Token]string{token.EQL: "Eq", token.NEQ: "Ne", token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Gt", token.GEQ: "Ge"}

// compareAndJump compiles a comparison of scalars, or with nil, and the conditional jump to one
// instruction. It reports whether that is possible.
func (c *compiler) compareAndJump(e *ast.BinaryExpr, value bool, l *label, loop bool) bool {
	if c.isNil(e.X) || c.isNil(e.Y) {
		x := e.X
		if c.isNil(e.X) {
			x = e.Y
		}
		if loop || c.isNil(x) {
			return false
		}
		v := c.expr(x, nil)
		if v.Width == "If" {
			isNil, o := c.scalarRegister(), vm.OpIfNot
			if (e.Op == token.EQL) == value {
				o = vm.OpIf
			}
			c.do(vm.OpNilIf, isNil, v.reg, 0)
			c.jump(l, o, isNil, 0, 0)
			return true
		}
		o := vm.OpIfNotNil
		if (e.Op == token.EQL) == value {
			o = vm.OpIfNil
		}
		c.jump(l, o, v.reg, 0, 0)
		return true
	}
	tx, ty := c.typeOf(e.X), c.typeOf(e.Y)
	if types.IsInterface(tx) || types.IsInterface(ty) {
		return false
	}
	s := c.shape(e, tx)
	kind := s.Type.Kind()
	if s.File != vm.Scalar || kind == reflect.Float32 {
		return false
	}
	o, prefix := e.Op, "If"
	if loop {
		prefix = "Loop"
	}
	isFloat := kind == reflect.Float64
	if !value {
		if isFloat && o != token.EQL && o != token.NEQ {
			if loop {
				return false
			}
			prefix = "IfNot"
		} else {
			o = negatedRelations[o]
		}
	}
	if !isFloat {
		if k, ok := c.smallConstant(e.Y); ok && (isSigned(kind) || o == token.EQL || o == token.NEQ) {
			x := c.expr(e.X, nil)
			c.jump(l, opNamed(prefix+constantRelationNames[o]+"K"), x.reg, 0, k)
			return true
		}
	}
	if length, ok := c.localLength(e.Y); ok && (o == token.LSS || o == token.GEQ && !loop) {
		x := c.expr(e.X, nil)
		c.jump(l, opNamed(prefix+constantRelationNames[o]+"Len"), x.reg, length, 0)
		return true
	}
	x := c.expr(e.X, nil)
	y := c.expr(e.Y, nil)
	if o == token.GTR || o == token.GEQ {
		x, y = y, x
	}
	name := relationNames[o]
	c.jump(l, opNamed(prefix+name+suffix(kind, name)), x.reg, y.reg, 0)
	return true
}
