package magic

import (
	"context"
	"fmt"
)

var restart = command{
	name: "%restart", usage: "%restart", alone: true,
	doc: "starts a new worker, with the modules of %get -compiled; all variables are lost",
	prepare: func(text string) (action, error) {
		return func(ctx context.Context, r *Run, _ []any) error {
			text, err := r.session.Ranks().Restart(ctx, r.session.Program())
			if err != nil {
				return fmt.Errorf("%%restart: %w", err)
			}
			if text == "" { // another rank prints it
				return nil
			}
			_, err = fmt.Fprintln(r.session.Stdout(), text)
			return err
		}, noArgument("%restart", text)
	},
}
