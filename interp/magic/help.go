package magic

import (
	"context"
	"fmt"
	"text/tabwriter"
)

// help is a function because it shows the table that it is in.
func help() command {
	return command{
		name: "%help", usage: "%help", doc: "shows this list",
		prepare: func(text string) (action, error) {
			return func(_ context.Context, r *Run, _ []any) error {
				w := tabwriter.NewWriter(r.session.Stdout(), 0, 8, 2, ' ', 0)
				for _, c := range commands() {
					fmt.Fprintf(w, "%s\t%s\n", c.usage, c.doc)
				}
				return w.Flush()
			}, noArgument("%help", text)
		},
	}
}
