package magic

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
)

// help is a function, not a variable, because the table that it prints contains it.
func help() command {
	return command{
		name: "%help", usage: "%help", doc: "shows this text",
		prepare: func(text string) (action, error) {
			return func(_ context.Context, r *Run, _ []any) error {
				out := r.session.Stdout()
				fmt.Fprintln(out, "A cell contains Go code. It may also contain these commands, each on a line of its own:")
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

// aboutCells describes other features of cells.
const aboutCells = `
Also useful in a cell:
  name?     shows the documentation of a package, function, type or variable; name?? also shows the source
            of a declaration of a cell; Tab completes a name, Shift-Tab shows its signature
  ctx       is a context.Context that an interrupt cancels: pass it to long calls, such as accel.Fit(ctx, …)
  imports   are not needed for the standard library and for accel, nn, data, plots, display and widgets:
            a package is imported when its name is used; %get makes other modules importable
  errors    a cell fails if it assigns a non-nil error to a variable and never reads it: read it, or
            write _ = err
  programs  a cell with func main and no statements runs main; a whole program, starting at package main,
            can be pasted: it runs as with go run, and its declarations remain for the next cells
  results   the value of the last expression is shown; display.Show, display.Table and plots show more
  tutorials are in the folder notebooks of Quern's source, which make lab opens:
            quickstart.ipynb in ten cells, 00-go for people who do not know Go, and a course from
            01-go-in-notebooks to 13-kernels
`
