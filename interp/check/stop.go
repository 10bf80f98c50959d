package check

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
)

// How a check is interrupted.
//
// go/types cannot be interrupted. But it asks for the size of int when it converts a constant to int,
// and for the size of uint when it shifts a constant. The method that returns the size checks the
// context, and ends the goroutine if the context has ended. It does not panic, because go/types would
// write about a panic to standard error. A cell may be long without such a constant, so there are
// checkpoints in it during the check:
//
//	_ = 0             between statements
//	const _ = 0 << 0  between declarations: uint is as good, and no name can hide it

// sizes are the default sizes of go/types.
var sizes = types.SizesFor("gc", "amd64")

// stoppable are sizes that end the goroutine if ctx has ended.
type stoppable struct {
	types.Sizes
	ctx context.Context
}

func (s stoppable) Sizeof(t types.Type) int64 {
	if s.ctx.Err() != nil {
		runtime.Goexit()
	}
	return s.Sizes.Sizeof(t)
}

// checkpointEvery is the number of bytes of source between checkpoints, which take less than a
// millisecond to check.
const checkpointEvery = 4 << 10

// checkpoints are the checkpoints in a file, which can be removed again.
type checkpoints struct {
	bytes    int // of source since the last checkpoint
	restores []func()
	names    []*ast.Ident
	values   []ast.Expr
}

// insertCheckpoints inserts checkpoints into the declarations and the statement lists of a file.
func insertCheckpoints(file *ast.File) *checkpoints {
	c := &checkpoints{}
	old := file.Decls
	c.restores = append(c.restores, func() { file.Decls = old })
	file.Decls = nil
	for _, d := range old {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.IMPORT && len(g.Specs) > 0 {
			if c.due(g) {
				shift := &ast.BinaryExpr{X: c.zero(g.Pos()), OpPos: g.Pos(), Op: token.SHL, Y: c.zero(g.Pos())}
				c.values = append(c.values, shift)
				spec := &ast.ValueSpec{Names: []*ast.Ident{c.blank(g.Pos())}, Values: []ast.Expr{shift}}
				file.Decls = append(file.Decls, &ast.GenDecl{TokPos: g.Pos(), Tok: token.CONST, Specs: []ast.Spec{spec}})
			}
		}
		file.Decls = append(file.Decls, d)
	}
	c.bytes = 0
	for _, d := range old {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				c.statements(&n.List)
			case *ast.CaseClause:
				c.statements(&n.Body)
			case *ast.CommClause:
				c.statements(&n.Body)
			}
			return true
		})
	}
	return c
}

// due reports whether a checkpoint is due before n, and adds the length of n.
func (c *checkpoints) due(n ast.Node) bool {
	due := c.bytes > checkpointEvery
	if due {
		c.bytes = 0
	}
	c.bytes += max(int(n.End()-n.Pos()), 0)
	return due
}

func (c *checkpoints) blank(at token.Pos) *ast.Ident {
	name := &ast.Ident{NamePos: at, Name: "_"}
	c.names = append(c.names, name)
	return name
}

func (c *checkpoints) zero(at token.Pos) *ast.BasicLit {
	zero := &ast.BasicLit{ValuePos: at, Kind: token.INT, Value: "0"}
	c.values = append(c.values, zero)
	return zero
}

func (c *checkpoints) statements(list *[]ast.Stmt) {
	old := *list
	var changed []ast.Stmt
	for i, s := range old {
		switch s.(type) {
		case *ast.CaseClause, *ast.CommClause:
			return // the body of a switch or select
		}
		if c.due(s) {
			if changed == nil {
				changed = append(changed, old[:i]...)
			}
			changed = append(changed, &ast.AssignStmt{
				Lhs: []ast.Expr{c.blank(s.Pos())}, TokPos: s.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{c.zero(s.Pos())}})
		}
		if changed != nil {
			changed = append(changed, s)
		}
	}
	if changed != nil {
		*list = changed
		c.restores = append(c.restores, func() { *list = old })
	}
}

// remove removes the checkpoints from the file, and the facts about them.
func (c *checkpoints) remove(info *types.Info) {
	for _, restore := range c.restores {
		restore()
	}
	for _, name := range c.names {
		delete(info.Defs, name)
	}
	for _, value := range c.values {
		delete(info.Types, value)
	}
}
