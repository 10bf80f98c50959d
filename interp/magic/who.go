package magic

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
)

var who = command{
	name: "%who", usage: "%who", doc: "lists the variables with their types and values", alone: true,
	prepare: func(text string) (action, error) {
		return func(_ context.Context, r *Run, values []any) error {
			variables := r.session.Variables()
			if len(variables) == 0 {
				_, err := fmt.Fprintln(r.session.Stdout(), "no variables")
				return err
			}
			w := tabwriter.NewWriter(r.session.Stdout(), 0, 8, 2, ' ', 0)
			for i, v := range variables {
				fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, v.Type, short(r.session.Text(values[i])))
			}
			return w.Flush()
		}, noArgument("%who", text)
	},
}

// maxValue is the maximal width of a value in a list, in characters.
const maxValue = 60

// short returns a value as one line.
func short(text string) string {
	if line, _, more := strings.Cut(text, "\n"); more {
		text = line + " …"
	}
	if r := []rune(text); len(r) > maxValue {
		text = string(r[:maxValue]) + "…"
	}
	return text
}
