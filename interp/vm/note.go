package vm

import (
	"go/ast"
	"go/types"
	"unsafe"
)

// A Note is called before or after a statement, with the value of a variable of type error.
type Note struct {
	Var *types.Var
	Run func(error)
}

// notes compiles the notes of a statement.
func (c *compiler) notes(s ast.Stmt) {
	if c.source.Notes == nil {
		return
	}
	for _, n := range c.source.Notes(s) {
		c.note(s, n)
	}
}

// losses compiles the notes behind a statement.
func (c *compiler) losses(s ast.Stmt) {
	if c.source.Losses == nil {
		return
	}
	for _, n := range c.source.Losses(s) {
		c.note(s, n)
	}
}

func (c *compiler) note(s ast.Stmt, n Note) {
	m := c.mark()
	var x operand
	if v := c.variables[n.Var]; v != nil {
		x = c.read(v, nil)
	} else {
		x = c.get(c.global(s, n.Var), nil)
	}
	at, run := x.at, n.Run
	c.native("note "+n.Var.Name(), &native{run: func(_ *thread, _, sb unsafe.Pointer) { run(*failure(sb, at)) }})
	c.release(m)
}
