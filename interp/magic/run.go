package magic

import (
	"context"
	"time"

	"github.com/quernlab/quern/interp/check"
)

// A Run is one execution of a cell with commands.
type Run struct {
	session Session
	cell    *Cell
	started time.Time            // of the timed statement; zero if there is none
	number  int                  // of the running command
	first   int                  // see StepsFrom
	output  []string             // lines of its output, if they are assigned
	tests   []check.TestFunction // that %test may run
	// replacement is the text for the cell in the notebook; empty to leave it.
	replacement string
}

// Run begins an execution.
func (c *Cell) Run(s Session) *Run { return &Run{session: s, cell: c, tests: c.tests} }

// StepsFrom sets what the numbers of the commands for Ranks.Once begin with. They are 0 and so on, unless several runs are a part of
// one cell of the notebook.
func (r *Run) StepsFrom(first int) { r.first = first }

// Replacement returns the text with which the front end is asked to replace the cell; empty if a command has set none.
func (r *Run) Replacement() string { return r.replacement }

// Call runs the command with a number. Parse replaces the command by this call.
func (r *Run) Call(ctx context.Context, number int, values []any) error {
	r.Stop()
	if number < 0 || number >= len(r.cell.actions) {
		return nil // the end of a timed statement
	}
	r.number = number
	return r.cell.actions[number](ctx, r, values)
}

// Output calls Call for a command whose output is assigned, and returns its lines.
func (r *Run) Output(ctx context.Context, number int, values []any) ([]string, error) {
	err := r.Call(ctx, number, values)
	return r.output, err
}
