package compile

import (
	"go/ast"
	"go/types"
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// A 16-bit float is a number of 16 bits, its bits, that only the functions of this file read. The conversions are integer arithmetic, which all
// devices have, and round to nearest, ties to even.

// formatOf returns the format of a type of package kernel that is a 16-bit float, program.Plain for any other type.
func formatOf(t types.Type) program.Format {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == KernelPath {
		switch n.Obj().Name() {
		case "Float16":
			return program.Float16
		case "BFloat16":
			return program.BFloat16
		}
	}
	return program.Plain
}

func uint32s(v uint32) program.Operand { return program.Operand{Type: program.Uint32, Bits: uint64(v)} }

func float32s(v float32) program.Operand {
	return program.Operand{Type: program.Float32, Bits: uint64(math.Float32bits(v))}
}

func (c *compiler) shift(op program.Op, x program.Operand, by uint32) program.Operand {
	return c.op(program.Uint32, op, program.Uint32, x, uint32s(by))
}

func (c *compiler) bitsOf(x program.Operand) program.Operand {
	return c.op(program.Uint32, program.Bits, program.Float32, x)
}

func (c *compiler) less(x, y program.Operand) program.Operand {
	return c.op(program.Bool, program.Lt, x.Type, x, y)
}

// widen compiles x.Float32() for a 16-bit float.
func (c *compiler) widen(e *ast.CallExpr) program.Operand {
	receiver := ast.Unparen(e.Fun).(*ast.SelectorExpr).X
	x := c.convert(c.operand(receiver), program.Uint32)
	if formatOf(c.subst(c.info.TypeOf(receiver))) == program.BFloat16 {
		return c.op(program.Float32, program.Bits, program.Uint32, c.shift(program.Shl, x, 16))
	}
	// With the exponent of a float32 it is too small by a factor of 2¹¹², also if it is subnormal.
	small := c.shift(program.Shl, c.binary(program.And, x, uint32s(0x7fff)), 13)
	value := c.binary(program.Mul, c.op(program.Float32, program.Bits, program.Uint32, small), float32s(0x1p112))
	bits := c.newVar(program.Uint32)
	c.move(bits, c.bitsOf(value))
	c.when(c.less(value, float32s(0x1p16)), func() {}, func() { // an infinity or NaN
		c.move(bits, c.binary(program.Or, bits, uint32s(0x7f800000)))
	})
	sign := c.shift(program.Shl, c.binary(program.And, x, uint32s(0x8000)), 16)
	return c.op(program.Float32, program.Bits, program.Uint32, c.binary(program.Or, bits, sign))
}

// narrow compiles a conversion of a float32 to 16 bits.
func (c *compiler) narrow(x program.Operand, to program.Format) program.Operand {
	u := c.bitsOf(x)
	size := c.binary(program.And, u, uint32s(0x7fffffff))
	y := c.newVar(program.Uint32)
	if to == program.BFloat16 {
		odd := c.binary(program.And, c.shift(program.Shr, u, 16), uint32s(1))
		c.move(y, c.shift(program.Shr, c.binary(program.Add, u, c.binary(program.Add, odd, uint32s(0x7fff))), 16))
		c.when(c.less(uint32s(0x7f800000), size), func() { // NaN
			c.move(y, c.binary(program.Or, c.shift(program.Shr, u, 16), uint32s(0x40)))
		}, nil)
		return c.convert(y, program.Uint16)
	}
	c.when(c.less(size, uint32s(113<<23)), func() {
		// Subnormal: the addition of 1/2 rounds to its last bit.
		half := float32s(0.5)
		sum := c.binary(program.Add, c.op(program.Float32, program.Bits, program.Uint32, size), half)
		c.move(y, c.binary(program.Sub, c.bitsOf(sum), uint32s(uint32(half.Bits))))
	}, func() {
		odd := c.binary(program.And, c.shift(program.Shr, size, 13), uint32s(1))
		const rebias = (15-127)<<23 + 0xfff + 1<<32
		c.move(y, c.shift(program.Shr, c.binary(program.Add, c.binary(program.Add, size, uint32s(rebias)), odd), 13))
		c.when(c.less(size, uint32s(143<<23)), func() {}, func() { // at least 2¹⁶
			c.move(y, uint32s(0x7c00))
			c.when(c.less(uint32s(0x7f800000), size), func() { c.move(y, uint32s(0x7e00)) }, nil)
		})
	})
	sign := c.binary(program.And, c.shift(program.Shr, u, 16), uint32s(0x8000))
	return c.convert(c.binary(program.Or, y, sign), program.Uint16)
}
