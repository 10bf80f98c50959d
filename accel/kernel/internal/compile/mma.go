package compile

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

var mmaTypes = map[string]string{"MMATF32": "tf32", "MMAFloat16": "f16", "MMABFloat16": "bf16"}

// multiply compiles a multiplication of matrices of a warp.
func (c *compiler) multiply(e *ast.CallExpr, name string) value {
	a, b := c.fragment(e.Args[1]), c.fragment(e.Args[2])
	var sum []program.Operand
	for _, x := range c.fragment(e.Args[3]) {
		y := c.newVar(x.Type)
		c.move(y, x)
		sum = append(sum, y)
	}
	c.when(c.op(program.Bool, program.Ne, program.Int64, c.lanes(), program.Int(program.WarpSize)), func() {
		c.faulty(c.instr(program.Panic, program.Bool)).Text = "kernel." + name + " needs warps of 32 threads: the number of threads of a block must be a multiple of 32"
	}, nil)
	args := append(append(append([]program.Operand{}, sum...), a...), b...)
	c.faulty(c.instr(program.MMA, program.Float32, args...)).Text = mmaTypes[name]
	of := c.info.TypeOf(e).Underlying().(*types.Array)
	m := c.newMemory("the result of "+name, program.Local, program.Float32, len(sum))
	for i, x := range sum {
		c.store(m, program.Int(i), x)
	}
	return array{m, program.Int(0), of}
}

// fragment returns the elements of an array.
func (c *compiler) fragment(e ast.Expr) []program.Operand {
	x, ok := c.value(e).(array)
	if !ok {
		c.fail(e, "this fragment is not supported in a kernel: use an array")
	}
	var all []program.Operand
	for i := range int(x.of.Len()) {
		at := program.Int(i)
		if x.offset.IsConst() {
			at = program.Int(i + int(x.offset.Bits))
		} else {
			at = c.binary(program.Add, x.offset, at)
		}
		all = append(all, c.load(x.memory, at))
	}
	return all
}
