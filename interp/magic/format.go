package magic

import (
	"context"
	"fmt"
	"strings"
)

var format = command{
	name: "%fmt", usage: "%fmt", doc: "formats the rest of the cell instead of running it, and shows it",
	prepare: func(text string) (action, error) { return nil, noArgument("%fmt", text) },
}

// formatted returns a cell that only formats the text around a command.
func formatted(src string, l line) (*Cell, error) {
	if _, err := format.prepare(l.text); err != nil {
		return nil, &Error{l.start, err.Error()}
	}
	run := func(_ context.Context, r *Run, _ []any) error {
		text, err := r.session.Format(src[:l.start] + strings.Repeat(" ", l.end-l.start) + src[l.end:])
		if err != nil {
			return fmt.Errorf("%%fmt: %w", err)
		}
		r.replacement = text
		_, err = fmt.Fprintln(r.session.Stdout(), text)
		return err
	}
	before := src[:l.start]
	call := strings.Repeat("\n", strings.Count(before, "\n")) + strings.Repeat(" ", l.start-1-strings.LastIndexByte(before, '\n'))
	return &Cell{Source: fmt.Sprintf("%s%s(0)", call, Name), actions: []action{run}}, nil
}
