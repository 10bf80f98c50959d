package magic

import (
	"context"
	"fmt"
	"strings"
)

var staleCells = command{
	name: "%stale", usage: "%stale", alone: true,
	doc: "lists the cells whose results no longer follow from the cells above them, and why",
	prepare: func(text string) (action, error) {
		return func(_ context.Context, r *Run, _ []any) error {
			if r.session.Ranks().Rank() > 0 {
				return nil // the list of one rank is enough
			}
			var b strings.Builder
			for _, c := range r.session.Stale() {
				fmt.Fprintln(&b, c)
			}
			if b.Len() == 0 {
				b.WriteString(NothingStale + "\n")
			}
			_, err := fmt.Fprint(r.session.Stdout(), b.String())
			return err
		}, noArgument("%stale", text)
	},
}

// NothingStale is what %stale and %run stale print if no cell is stale.
const NothingStale = "nothing is stale"

var runStale = command{
	name: "%run", usage: "%run stale", alone: true,
	doc: "runs these cells again, in order, up to the first that fails; their output appears here",
	prepare: func(text string) (action, error) {
		// The session runs them after this cell.
		run := func(context.Context, *Run, []any) error { return nil }
		if text != "stale" {
			return nil, fmt.Errorf("%%run has the argument stale: %%run stale runs the cells that %%stale lists; %s", instead["%run"])
		}
		return run, nil
	},
}
