package magic

import (
	"context"
	"time"
)

// A Run is one execution of a cell with commands.
type Run struct {
	session Session
	cell    *Cell
	started time.Time // of what is timed; zero when nothing is
	number  int       // of the command that runs
}

// Run begins an execution.
func (c *Cell) Run(s Session) *Run { return &Run{session: s, cell: c} }

// Call runs the command that the call in the source has the number of.
func (r *Run) Call(ctx context.Context, number int, values []any) error {
	r.Stop()
	if number < 0 || number >= len(r.cell.actions) {
		return nil // the end of what is timed
	}
	r.number = number
	return r.cell.actions[number](ctx, r, values)
}
