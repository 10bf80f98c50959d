package magic

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

var env = command{
	name: "%env", usage: "%env [name | name=value]", doc: "shows the environment or one of its variables, or sets one",
	prepare: func(text string) (action, error) {
		name, value, set := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if text != "" && (name == "" || strings.ContainsAny(name, " \t")) {
			return nil, fmt.Errorf("%q is not a name of an environment variable: %%env NAME=value", name)
		}
		return func(_ context.Context, r *Run, _ []any) error {
			out := r.session.Stdout()
			switch {
			case set:
				if err := os.Setenv(name, unquote(strings.TrimSpace(value))); err != nil {
					return fmt.Errorf("%%env: %w", err)
				}
				return nil
			case name != "":
				value, ok := os.LookupEnv(name)
				if !ok {
					return fmt.Errorf("%%env: %s is not set", name)
				}
				_, err := fmt.Fprintln(out, value)
				return err
			}
			all := os.Environ()
			slices.Sort(all)
			_, err := fmt.Fprintln(out, strings.Join(all, "\n"))
			return err
		}, nil
	},
}
