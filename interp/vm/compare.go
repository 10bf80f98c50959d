package vm

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

// callCmp compiles a call of a function of package cmp for common types without a call. It returns nil for any other call.
func (c *compiler) callCmp(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if o.Pkg() == nil || o.Pkg().Path() != "cmp" || c.isDeferred(e) || e.Ellipsis.IsValid() || len(e.Args) == 0 {
		return nil
	}
	t := c.subst(sig.Params().At(0).Type())
	if o.Name() == "Or" {
		t = t.Underlying().(*types.Slice).Elem()
	} else if c.argumentCountDiffers(e, sig) {
		return nil
	}
	s := c.shape(e, t)
	isText, isFloat := s.width == "Str", isFloat(s.typ.Kind())
	if s.file != scalar && !isText {
		return nil
	}
	switch o.Name() {
	case "Or":
		if isFloat {
			return nil
		}
		return []operand{c.firstNonzero(e.Args, t, s)}
	case "Compare":
		dst := c.temporary(intShape)
		m := c.mark()
		x, y := c.copyOf(e.Args[0], t, s), c.copyOf(e.Args[1], t, s)
		c.compareTo(dst.reg, x, y)
		c.release(m)
		return []operand{dst}
	}
	return nil
}

// copyOf compiles e to a value in a register of its own.
func (c *compiler) copyOf(e ast.Expr, t types.Type, s shape) operand {
	to := c.temporary(s)
	m := c.mark()
	c.moveInto(c.exprTo(e, t, &to), &to)
	c.release(m)
	return to
}

// firstNonzero compiles cmp.Or for integers, booleans and strings.
func (c *compiler) firstNonzero(list []ast.Expr, t types.Type, s shape) operand {
	dst := c.copyOf(list[0], t, s)
	m := c.mark()
	defer c.release(m)
	var others []operand
	for _, e := range list[1:] {
		others = append(others, c.copyOf(e, t, s))
	}
	end := newLabel()
	for _, x := range others {
		at := dst.reg
		if s.file != scalar {
			at = c.scalarRegister()
			c.do(opLen, at, dst.reg, 0)
		}
		c.jump(end, opIfNeK, at, 0, 0)
		c.move(dst, x)
	}
	if len(others) > 0 {
		c.bind(end)
	}
	return dst
}

// compareTo compiles cmp.Compare for numbers and strings.
func (c *compiler) compareTo(dst uint16, x, y operand) {
	a, b := x.reg, y.reg
	switch kind := x.typ.Kind(); {
	case x.width == "Str":
		c.native("cmp.Compare", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*intAt(nb, dst) = int64(strings.Compare(*stringAt(sb, a), *stringAt(sb, b)))
		}})
	case isFloat(kind) && x.typ.Size() == 8:
		c.native("cmp.Compare", &native{run: func(_ *thread, nb, _ unsafe.Pointer) {
			*intAt(nb, dst) = int64(cmp.Compare(*floatAt(nb, a), *floatAt(nb, b)))
		}})
	case isFloat(kind):
		c.native("cmp.Compare", &native{run: func(_ *thread, nb, _ unsafe.Pointer) {
			*intAt(nb, dst) = int64(cmp.Compare(*(*float32)(unsafe.Add(nb, a)), *(*float32)(unsafe.Add(nb, b))))
		}})
	default:
		less := opLtI
		if !isSigned(kind) && x.typ.Size() == 8 {
			less = opLtU
		}
		before := c.scalarRegister()
		c.do(less, before, a, b)
		c.do(less, dst, b, a)
		c.do(opSubI, dst, dst, before)
	}
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }
