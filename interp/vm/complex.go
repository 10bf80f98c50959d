package vm

import (
	"go/ast"
	"go/constant"
	"go/types"
	"unsafe"
)

// isComplex reports whether values of a shape are complex numbers.
func isComplex(s shape) bool { return s.width == "C" || s.width == "D" }

// constantComplex loads a complex constant into a register.
func (c *code) constantComplex(dst operand, v constant.Value) {
	v = constant.ToComplex(v)
	var x complex128
	if dst.width == "D" {
		re, _ := constant.Float32Val(constant.Real(v))
		im, _ := constant.Float32Val(constant.Imag(v))
		x = complex128(complex(re, im))
	} else {
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		x = complex(re, im)
	}
	c.emit(opNamed("Const"+dst.width), dst.reg, 0, 0, int32(len(c.fn.complexes)), 0)
	c.fn.complexes = append(c.fn.complexes, x)
}

// makeComplex compiles complex(x, y).
func (c *compiler) makeComplex(e *ast.CallExpr, want *operand) operand {
	if len(e.Args) != 2 {
		c.fail(e, "several values as the arguments of complex")
	}
	s := c.shapeOf(e)
	x, y := c.expr(e.Args[0], nil), c.expr(e.Args[1], nil)
	dst := c.destination(s, want)
	c.do(opNamed("Make"+s.width), dst.reg, x.reg, y.reg)
	return dst
}

// part compiles real(x) and imag(x).
func (c *compiler) part(e *ast.CallExpr, name string, want *operand) operand {
	x := c.expr(e.Args[0], nil)
	dst := c.destination(c.shapeOf(e), want)
	o := "Real"
	if name == "imag" {
		o = "Imag"
	}
	c.do(opNamed(o+x.width), dst.reg, x.reg, 0)
	return dst
}

// convertComplex converts a complex number to another complex type.
func (c *code) convertComplex(x operand, to shape, want *operand) operand {
	dst := c.destination(to, want)
	if x.width == to.width {
		c.move(operand{shape: to, reg: dst.reg}, operand{shape: to, reg: x.reg})
	} else {
		c.do(opNamed(x.width+to.width), dst.reg, x.reg, 0)
	}
	return dst
}

// callComplex compiles the call of a function of package math/cmplx, or returns nil for any other function.
// Adapters do not support complex numbers, which Go passes in floating-point registers.
func (c *compiler) callComplex(e *ast.CallExpr, name string, f any, sig *types.Signature) []operand {
	switch f.(type) {
	case func(complex128) complex128, func(complex128) float64, func(complex128) bool,
		func(complex128) (float64, float64), func(_, _ complex128) complex128, func(_, _ float64) complex128:
	default:
		return nil
	}
	before := c.mark()
	var x []uint16
	for i, a := range e.Args {
		x = append(x, c.exprTo(a, sig.Params().At(i).Type(), nil).reg)
	}
	c.release(before)
	var results []operand
	var r []uint16
	for v := range sig.Results().Variables() {
		to := c.temporary(c.shape(e, v.Type()))
		results, r = append(results, to), append(r, to.reg)
	}
	var run func(t *thread, nb, sb unsafe.Pointer)
	switch f := f.(type) {
	case func(complex128) complex128:
		run = func(_ *thread, _, sb unsafe.Pointer) { *complex128At(sb, r[0]) = f(*complex128At(sb, x[0])) }
	case func(complex128) float64:
		run = func(_ *thread, nb, sb unsafe.Pointer) { *floatAt(nb, r[0]) = f(*complex128At(sb, x[0])) }
	case func(complex128) bool:
		run = func(_ *thread, nb, sb unsafe.Pointer) { *intAt(nb, r[0]) = boolToInt(f(*complex128At(sb, x[0]))) }
	case func(complex128) (float64, float64):
		run = func(_ *thread, nb, sb unsafe.Pointer) {
			*floatAt(nb, r[0]), *floatAt(nb, r[1]) = f(*complex128At(sb, x[0]))
		}
	case func(_, _ complex128) complex128:
		run = func(_ *thread, _, sb unsafe.Pointer) {
			*complex128At(sb, r[0]) = f(*complex128At(sb, x[0]), *complex128At(sb, x[1]))
		}
	case func(_, _ float64) complex128:
		run = func(_ *thread, nb, sb unsafe.Pointer) {
			*complex128At(sb, r[0]) = f(*floatAt(nb, x[0]), *floatAt(nb, x[1]))
		}
	}
	c.native(name, &native{run: run})
	return results
}
