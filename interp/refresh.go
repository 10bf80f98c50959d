package interp

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/interp/check"
)

// refresh loads packages of modules again that have changed, and compiles the declarations of earlier cells that use
// them, by the rules for the redefinition of a name: what does not compile any more is reported, and panics when it is
// called. The cell that follows need not use any of these, so an error is only a note, and what the declarations are then
// stays as it was. The error is that of ctx if it has ended.
func (c *compiler) refresh(ctx context.Context, number int) error {
	err := c.packages.reload(ctx, number)
	if err == nil {
		err = c.recheck(ctx, number)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != c.refreshed {
		c.packages.note(number, fmt.Sprintf("functions, types and constants of earlier cells use the versions of packages before their files changed: %s", text))
	}
	c.refreshed = text
	return nil
}

// recheck compiles the declarations of cells that use other versions of packages than are loaded now.
func (c *compiler) recheck(ctx context.Context, number int) error {
	cell, err := c.checker.Recheck(ctx, number, c.loader.Loaded())
	if cell == nil || err != nil {
		return err
	}
	if err := c.recompile(ctx, cell); err != nil {
		return err
	}
	for _, e := range cell.Broken {
		c.packages.note(number, "the changed files break "+brokenNote(e))
	}
	return nil
}

// recompile compiles a cell that consists of declarations of earlier cells. The caller holds compiling.
func (c *compiler) recompile(ctx context.Context, cell *check.Cell) error {
	unit, err := c.lower(ctx, cell)
	if err != nil {
		c.checker.Discard(cell)
		return err
	}
	c.linker.redeclare(unit)
	c.keepCell(cell, unit)
	defer c.checker.Release(cell)
	return c.packages.execute(ctx, cell.Number, unit)
}
