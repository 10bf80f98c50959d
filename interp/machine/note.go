package machine

import (
	"go/ast"
	"go/types"
	"unsafe"
)

// A Note is called before a statement, with the value of a variable of type error that outlives the function.
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
		m := c.mark()
		at, run := c.get(c.global(s, n.Var), nil).at, n.Run
		c.native("note "+n.Var.Name(), &native{run: func(_ *thread, _, sb unsafe.Pointer) { run(*failure(sb, at)) }})
		c.release(m)
	}
}
