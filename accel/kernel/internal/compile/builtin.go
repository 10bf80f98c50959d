package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// builtin compiles a call of a builtin function.
func (c *compiler) builtin(e *ast.CallExpr, name string) []value {
	switch name {
	case "len", "cap":
		switch x := c.value(e.Args[0]).(type) {
		case slice:
			if name == "cap" {
				return []value{x.capacity}
			}
			return []value{x.length}
		case array:
			return []value{program.Int(int(x.of.Len()))}
		case *structArray:
			return []value{program.Int(int(x.of.Len()))}
		}
		c.fail(e, "%s is supported for slices and arrays", name)
	case "min", "max":
		t := c.scalar(e, c.info.TypeOf(e))
		op := program.Min
		if name == "max" {
			op = program.Max
		}
		x := c.convertConstant(e.Args[0], t)
		for _, a := range e.Args[1:] {
			x = c.binary(op, x, c.convertConstant(a, t))
		}
		return []value{x}
	case "panic":
		v := c.info.Types[e.Args[0]].Value
		if v == nil || v.Kind() != constant.String {
			c.fail(e, "the argument of panic in a kernel is a constant string")
		}
		c.faulty(c.instr(program.Panic, program.Bool)).Text = constant.StringVal(v)
		return nil
	case "make", "new", "append":
		c.fail(e, "a kernel cannot allocate memory: %s is not supported; declare an array", name)
	case "copy":
		c.fail(e, "copy is not supported in a kernel: write a loop, which the threads can share")
	case "print", "println":
		c.fail(e, "a kernel cannot print: write to a slice")
	}
	c.fail(e, "%s is not supported in a kernel", name)
	return nil
}

// functions of package math that are one op, and that package program leaves to the back ends.
var mathOps = map[string]program.Op{"Float32bits": program.Bits, "Float64bits": program.Bits, "Float32frombits": program.Bits, "Float64frombits": program.Bits}

// math compiles a call of a function of package math.
func (c *compiler) math(e *ast.CallExpr, name string) value {
	sig := c.callee(e).(*types.Func).Signature()
	args := make([]program.Operand, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.convertConstant(a, c.scalar(a, sig.Params().At(i).Type()))
	}
	to := c.scalar(e, sig.Results().At(0).Type())
	if op, ok := mathOps[name]; ok {
		return c.op(to, op, args[0].Type, args[0])
	}
	float := func(v float64) program.Operand {
		return program.Operand{Type: program.Float64, Bits: math.Float64bits(v)}
	}
	switch name {
	case "NaN":
		return float(math.NaN())
	case "Inf":
		if !args[0].IsConst() {
			c.fail(e, "the argument of math.Inf in a kernel is a constant")
		}
		return float(math.Inf(int(int64(args[0].Bits))))
	case "IsNaN":
		return c.op(program.Bool, program.Ne, program.Float64, args[0], args[0])
	case "IsInf":
		if !args[1].IsConst() {
			c.fail(e, "the second argument of math.IsInf in a kernel is a constant")
		}
		x := args[0]
		switch sign := int64(args[1].Bits); {
		case sign > 0:
			return c.op(program.Bool, program.Eq, program.Float64, x, float(math.Inf(1)))
		case sign < 0:
			return c.op(program.Bool, program.Eq, program.Float64, x, float(math.Inf(-1)))
		}
		return c.op(program.Bool, program.Eq, program.Float64, c.mathOp("Abs", x), float(math.Inf(1)))
	case "Max", "Min":
		op := program.Max
		if name == "Min" {
			op = program.Min
		}
		y := c.binary(op, args[0], args[1])
		// Unlike the builtin functions: an infinity wins against NaN.
		return c.infinityWins(name, args[0], args[1], y)
	case "Signbit":
		bits := c.op(program.Int64, program.Bits, program.Float64, args[0])
		return c.op(program.Bool, program.Lt, program.Int64, bits, program.Int(0))
	case "Copysign":
		const sign = 1 << 63
		x := c.op(program.Uint64, program.Bits, program.Float64, args[0])
		y := c.op(program.Uint64, program.Bits, program.Float64, args[1])
		mask := program.Operand{Type: program.Uint64, Bits: sign}
		z := c.binary(program.Or, c.binary(program.AndNot, x, mask), c.binary(program.And, y, mask))
		return c.op(program.Float64, program.Bits, program.Uint64, z)
	}
	return c.mathOp(name, args...)
}

func (c *compiler) mathOp(name string, args ...program.Operand) program.Operand {
	d := c.newVar(program.Float64)
	i := c.instr(program.Math, program.Float64, args...)
	i.Dst, i.Text = d.Var, name
	return d
}

// infinityWins returns y, the larger or smaller one of a and b, or the infinity among them that is the result even if the other is NaN.
func (c *compiler) infinityWins(name string, a, b, y program.Operand) program.Operand {
	inf := program.Operand{Type: program.Float64, Bits: math.Float64bits(math.Inf(1))}
	if name == "Min" {
		inf.Bits = math.Float64bits(math.Inf(-1))
	}
	out := c.newVar(program.Float64)
	c.move(out, y)
	for _, x := range []program.Operand{a, b} {
		c.when(c.op(program.Bool, program.Eq, program.Float64, x, inf), func() { c.move(out, inf) }, nil)
	}
	return out
}

var axes = map[string]program.SpecialValue{
	"ThreadX": program.ThreadX, "ThreadY": program.ThreadY, "ThreadZ": program.ThreadZ,
	"BlockX": program.BlockX, "BlockY": program.BlockY, "BlockZ": program.BlockZ,
	"BlockDimX": program.BlockDimX, "BlockDimY": program.BlockDimY, "BlockDimZ": program.BlockDimZ,
	"GridDimX": program.GridDimX, "GridDimY": program.GridDimY, "GridDimZ": program.GridDimZ,
}

var atomicOps = map[string]program.Op{
	"AtomicAdd": program.AtomicAdd, "AtomicMin": program.AtomicMin, "AtomicMax": program.AtomicMax,
	"AtomicExchange": program.AtomicExchange, "AtomicCompareAndSwap": program.AtomicCAS,
}

// intrinsic compiles a call of package kernel.
func (c *compiler) intrinsic(e *ast.CallExpr, f *types.Func) []value {
	name := f.Name()
	if v, ok := axes[name]; ok {
		return []value{c.special(v)}
	}
	if op, ok := atomicOps[name]; ok {
		return []value{c.atomic(e, op)}
	}
	warp := func(to program.Type, op program.Op, args ...program.Operand) []value {
		d := c.newVar(to)
		i := c.faulty(c.instr(op, args[0].Type, args...))
		i.Dst = d.Var
		return []value{d}
	}
	switch name {
	case "Global":
		return []value{c.global(0)}
	case "GlobalY":
		return []value{c.global(1)}
	case "GlobalZ":
		return []value{c.global(2)}
	case "Lane":
		return []value{c.lane()}
	case "Warp":
		return []value{c.op(program.Int64, program.Shr, program.Int64, c.number(), program.Operand{Type: program.Uint64, Bits: 5})}
	case "Sync":
		c.faulty(c.instr(program.Sync, program.Bool))
		return nil
	case "SyncWarp":
		c.faulty(c.instr(program.SyncWarp, program.Bool))
		return nil
	case "Any":
		return warp(program.Bool, program.Any, c.convertConstant(e.Args[0], program.Bool))
	case "All":
		return warp(program.Bool, program.All, c.convertConstant(e.Args[0], program.Bool))
	case "Ballot":
		return warp(program.Uint32, program.Ballot, c.convertConstant(e.Args[0], program.Bool))
	case "Shuffle", "ShuffleDown", "ShuffleUp", "ShuffleXor":
		v := c.temporary(c.convertConstant(e.Args[1], c.scalar(e, c.info.TypeOf(e))))
		n := c.convertConstant(e.Args[2], program.Int64)
		return warp(v.Type, program.Shuffle, v, c.sourceLane(name, n))
	case "MMATF32", "MMAFloat16", "MMABFloat16":
		return []value{c.multiply(e, name)}
	case "Float32":
		return []value{c.widen(e)}
	case "ToFloat16":
		return []value{c.narrow(c.convertConstant(e.Args[0], program.Float32), program.Float16)}
	case "ToBFloat16":
		return []value{c.narrow(c.convertConstant(e.Args[0], program.Float32), program.BFloat16)}
	case "Shared":
		c.fail(e, "kernel.Shared must be a statement directly behind the declaration of its array")
	}
	c.fail(e, "kernel.%s cannot be called in a kernel", name)
	return nil
}

// sourceLane returns the lane that a shuffle reads: the own one if the requested one does not exist.
func (c *compiler) sourceLane(name string, n program.Operand) program.Operand {
	own := c.lane()
	from := n
	switch name {
	case "ShuffleDown":
		from = c.binary(program.Add, own, n)
	case "ShuffleUp":
		from = c.binary(program.Sub, own, n)
	case "ShuffleXor":
		from = c.binary(program.Xor, own, n)
	}
	lane := c.newVar(program.Int64)
	c.move(lane, own)
	exists := c.binary(program.And, c.op(program.Bool, program.Le, program.Int64, program.Int(0), from), c.op(program.Bool, program.Lt, program.Int64, from, c.lanes()))
	c.when(exists, func() { c.move(lane, from) }, nil)
	return lane
}

// atomic compiles an atomic operation on &x[i].
func (c *compiler) atomic(e *ast.CallExpr, op program.Op) value {
	address, ok := ast.Unparen(e.Args[0]).(*ast.UnaryExpr)
	var p place
	if ok && address.Op == token.AND {
		switch x := ast.Unparen(address.X).(type) {
		case *ast.IndexExpr:
			p = c.index(x)
		case *ast.SelectorExpr:
			p = c.selector(x)
		}
	}
	at, ok := p.(elementPlace)
	if !ok {
		c.fail(e.Args[0], "an atomic operation takes the address of an element of a slice or a shared array: &x[i], or of a field of one: &x[i].n")
	}
	if at.memory.Space == program.Local {
		c.fail(e.Args[0], "an atomic operation on %s, which belongs to one thread, has no purpose", at.memory.Name)
	}
	args := []program.Operand{at.at}
	for _, a := range e.Args[1:] {
		args = append(args, c.convertConstant(a, at.memory.Elem))
	}
	c.at = e.Pos()
	d := c.newVar(at.memory.Elem)
	i := c.faulty(c.instr(op, at.memory.Elem, args...))
	i.Dst, i.Mem, i.Text = d.Var, at.memory, at.memory.Name
	at.memory.Written = true
	return d
}
