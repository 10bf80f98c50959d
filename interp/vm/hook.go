package vm

import (
	"go/ast"
	"go/types"
	"unsafe"
)

// A Hook runs before or after a statement, with the value of a variable of type error.
type Hook struct {
	Var *types.Var
	Run func(error)
}

// hooksBefore compiles the hooks that run before a statement.
func (c *compiler) hooksBefore(s ast.Stmt) {
	if c.source.HooksBefore == nil {
		return
	}
	for _, n := range c.source.HooksBefore(s) {
		c.hook(s, n)
	}
}

// hooksAfter compiles the hooks that run after a statement.
func (c *compiler) hooksAfter(s ast.Stmt) {
	if c.source.HooksAfter == nil {
		return
	}
	for _, n := range c.source.HooksAfter(s) {
		c.hook(s, n)
	}
}

func (c *compiler) hook(s ast.Stmt, n Hook) {
	m := c.mark()
	var x operand
	if v := c.variables[n.Var]; v != nil {
		x = c.read(v, nil)
	} else {
		x = c.get(c.global(s, n.Var), nil)
	}
	at, run := x.reg, n.Run
	c.native("note "+n.Var.Name(), &native{run: func(_ *thread, _, sb unsafe.Pointer) { run(*errorAt(sb, at)) }})
	c.release(m)
}
