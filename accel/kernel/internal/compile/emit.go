package compile

import (
	"go/ast"
	"go/token"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

func (c *compiler) newVar(t program.Type) program.Operand {
	v := &program.Var{Type: t, ID: len(c.program.Vars)}
	c.program.Vars = append(c.program.Vars, v)
	return program.Operand{Var: v, Type: t}
}

func (c *compiler) newMemory(name string, space program.Space, elem program.Type, n int) *program.Memory {
	m := &program.Memory{Name: name, Space: space, Elem: elem, Len: n, ID: len(c.program.Memories), Pos: c.position(c.at)}
	c.program.Memories = append(c.program.Memories, m)
	return m
}

// add appends a statement.
func (c *compiler) add(s program.Stmt) { *c.out = append(*c.out, s) }

// into appends the statements of f to a list.
func (c *compiler) into(list *[]program.Stmt, f func()) {
	before := c.out
	c.out = list
	f()
	c.out = before
}

func (c *compiler) position(p token.Pos) token.Position { return c.fset.Position(p) }

// instr appends an instruction without a result.
func (c *compiler) instr(op program.Op, t program.Type, args ...program.Operand) *program.Instr {
	i := &program.Instr{Op: op, Type: t, Args: args, Pos: c.position(c.at)}
	c.add(i)
	return i
}

// op appends an instruction and returns its result, of type to.
func (c *compiler) op(to program.Type, op program.Op, t program.Type, args ...program.Operand) program.Operand {
	d := c.newVar(to)
	c.instr(op, t, args...).Dst = d.Var
	return d
}

// move assigns a scalar to a variable.
func (c *compiler) move(to, from program.Operand) { c.instr(program.Move, to.Type, from).Dst = to.Var }

// temporary copies a scalar, unless it is a constant.
func (c *compiler) temporary(x program.Operand) program.Operand {
	if x.IsConst() {
		return x
	}
	return c.op(x.Type, program.Move, x.Type, x)
}

// faulty gives an instruction a site.
func (c *compiler) faulty(i *program.Instr) *program.Instr {
	c.program.Sites = append(c.program.Sites, i)
	i.Site = len(c.program.Sites)
	return i
}

// check appends a check of a condition.
func (c *compiler) check(op program.Op, t program.Type, text string, args ...program.Operand) {
	i := c.faulty(c.instr(op, t, args...))
	i.Text = text
}

// special returns a value that the launch determines.
func (c *compiler) special(v program.SpecialValue) program.Operand {
	if x, ok := c.specials[v]; ok {
		return x
	}
	var x program.Operand
	c.into(&c.prologue, func() { x = c.op(program.Int64, program.Special, program.Int64, program.Int(int(v))) })
	c.specials[v] = x
	return x
}

func (c *compiler) binary(op program.Op, x, y program.Operand) program.Operand {
	if z, ok := folded(op, x, y); ok {
		return z
	}
	return c.op(x.Type, op, x.Type, x, y)
}

// folded computes with constants of type Int64, as indices of unrolled loops are.
func folded(op program.Op, x, y program.Operand) (z program.Operand, ok bool) {
	if !x.IsConst() || !y.IsConst() || x.Type != program.Int64 || y.Type != program.Int64 {
		return z, false
	}
	a, b := int(x.Bits), int(y.Bits)
	switch {
	case op == program.Add:
		return program.Int(a + b), true
	case op == program.Sub:
		return program.Int(a - b), true
	case op == program.Mul:
		return program.Int(a * b), true
	case op == program.Div && b != 0:
		return program.Int(a / b), true
	case op == program.Rem && b != 0:
		return program.Int(a % b), true
	}
	return z, false
}

// global returns the position of the thread among those of all blocks, along x, y or z.
func (c *compiler) global(axis program.SpecialValue) program.Operand {
	begin := c.binary(program.Mul, c.special(program.BlockX+axis), c.special(program.BlockDimX+axis))
	return c.binary(program.Add, begin, c.special(program.ThreadX+axis))
}

// number returns the number of the thread in its block.
func (c *compiler) number() program.Operand {
	yz := c.binary(program.Mul, c.special(program.ThreadZ), c.special(program.BlockDimY))
	yz = c.binary(program.Add, yz, c.special(program.ThreadY))
	return c.binary(program.Add, c.binary(program.Mul, yz, c.special(program.BlockDimX)), c.special(program.ThreadX))
}

func (c *compiler) lane() program.Operand {
	return c.binary(program.And, c.number(), program.Int(program.WarpSize-1))
}

// lanes returns the number of threads of the warp.
func (c *compiler) lanes() program.Operand {
	n := c.binary(program.Mul, c.special(program.BlockDimX), c.binary(program.Mul, c.special(program.BlockDimY), c.special(program.BlockDimZ)))
	before := c.binary(program.AndNot, c.number(), program.Int(program.WarpSize-1))
	return c.binary(program.Min, c.binary(program.Sub, n, before), program.Int(program.WarpSize))
}

// when appends an if statement.
func (c *compiler) when(cond program.Operand, then, otherwise func()) {
	i := &program.If{Cond: cond}
	c.add(i)
	c.into(&i.Then, then)
	if otherwise != nil {
		c.into(&i.Else, otherwise)
	}
}

// count appends a loop over 0..n-1.
func (c *compiler) count(n program.Operand, body func(i program.Operand)) {
	if n.IsConst() && n.Bits <= maxUnrolled {
		for i := range int(n.Bits) {
			body(program.Int(i))
		}
		return
	}
	c.countLoop(nil, n, body)
}

// load returns an element of a memory.
func (c *compiler) load(m *program.Memory, at program.Operand) program.Operand {
	d := c.newVar(m.Elem)
	i := c.faulty(c.instr(program.Load, m.Elem, at))
	i.Dst, i.Mem, i.Text = d.Var, m, m.Name
	return d
}

func (c *compiler) store(m *program.Memory, at, x program.Operand) {
	m.Written = true
	i := c.faulty(c.instr(program.Store, m.Elem, at, x))
	i.Mem, i.Text = m, m.Name
}

// here sets the position of the next instructions, and returns a function that sets the one before again.
func (c *compiler) here(n ast.Node) func() {
	before := c.at
	c.at = n.Pos()
	return func() { c.at = before }
}
