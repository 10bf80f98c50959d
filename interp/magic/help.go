package magic

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
)

// help is a function, not a variable, because it prints the table that it is part of.
func help() command {
	return command{
		name: "%help", usage: "%help", doc: "shows this text",
		prepare: func(text string) (action, error) {
			return func(_ context.Context, r *Run, _ []any) error {
				out := r.session.Stdout()
				fmt.Fprintln(out, "A cell is Go, and may have these commands, each on a line of its own:")
				w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
				for _, c := range commands() {
					fmt.Fprintf(w, "  %s\t%s\n", c.usage, c.doc)
				}
				if err := w.Flush(); err != nil {
					return err
				}
				_, err := io.WriteString(out, aboutCells)
				return err
			}, noArgument("%help", text)
		},
	}
}

// aboutCells describes what else is useful in a cell.
const aboutCells = `
What else is useful in a cell:
  name?     shows the documentation of a package, function, type or variable, name?? also the source
            of what a cell declared; Tab completes a name, Shift-Tab shows its signature
  ctx       is a context.Context that an interrupt cancels: pass it to what takes long, as accel.Fit(ctx, …)
  imports   are not needed for the standard library and for accel, nn, data, plots, display and widgets:
            a package is imported when its name is used; %get makes other modules importable
  errors    an error that is not nil fails the cell if nothing in it reads the error: read it, or write _ = err
  programs  a cell with func main and no statements runs main; a whole program, from package main on, can
            be pasted: it runs as with go run, and what it declares stays for the next cells
  results   the value of the last expression is shown; display.Show, display.Table and plots show more
  tutorials quickstart.ipynb first, then fashion, 03-cnn to 09-several-gpus, and claims:
            in the folder notebooks of Quern's source, which make lab opens
`
