package interp

import (
	"context"
	"fmt"
	"io"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
)

// runStale runs the stale cells again, in order, as a part of a cell with %run stale. The first error ends it. Errors have the
// positions of the cells; all output is that of the one with the command.
func (s *Session) runStale(ctx context.Context, cell int, how execution) (all Result, _ error) {
	out := io.Discard
	if s.commands.ranks.Rank() == 0 { // the lines of one rank are enough
		out = s.output.StdoutOf(cell)
	}
	list := s.cells.Stale()
	if len(list) == 0 {
		fmt.Fprintln(out, magic.NothingStale)
	}
	for i, c := range list {
		fmt.Fprintf(out, "%s: %s\n", check.Filename(c.Number), c.Line())
		how.number, how.again, how.step = c.Number, c.Key, (i+1)*maxCommands
		result, _, err := s.execute(ctx, cell, c.Source, how)
		all.Goroutines = all.Goroutines || result.Goroutines
		if err != nil {
			return all, err
		}
		show(out, result)
	}
	for i, c := range s.cells.Stale() {
		if i == 0 {
			fmt.Fprintln(out, "still stale, because cells change what others use, or because a definition is missing:")
		}
		fmt.Fprintln(out, c)
	}
	return all, nil
}

// maxCommands is more than a cell has commands.
const maxCommands = 1 << 20

// show shows the result of a cell that has run again.
func show(out io.Writer, r Result) {
	if text, ok := r.Data["text/plain"].(string); ok && len(r.Data) == 1 {
		fmt.Fprintln(out, text)
	} else if len(r.Data) > 0 {
		display.Show(shown(r))
	}
}

// shown is a result that has been rendered.
type shown Result

func (s shown) MIMEBundle() map[string]any   { return s.Data }
func (s shown) MIMEMetadata() map[string]any { return s.Metadata }
