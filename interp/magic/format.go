package magic

import (
	"context"
	"fmt"
	"io"
	"strings"
)

var format = command{
	name: "%fmt", usage: "%fmt", doc: "formats the rest of the cell instead of running it, and shows it",
	prepare: func(text string) (action, error) { return nil, noArgument("%fmt", text) },
}

var explain = command{
	name: "%explain", usage: "%explain", doc: "shows what the rest of the cell is compiled to, instead of running it",
	prepare: func(text string) (action, error) { return nil, noArgument("%explain", text) },
}

// inPlace returns a cell that calls run with the text around a command and runs nothing else.
func inPlace(src string, l line, c command, run func(ctx context.Context, r *Run, text string) error) (*Cell, error) {
	if _, err := c.prepare(l.text); err != nil {
		return nil, &Error{l.start, err.Error()}
	}
	do := func(ctx context.Context, r *Run, _ []any) error {
		if err := run(ctx, r, src[:l.start]+strings.Repeat(" ", l.end-l.start)+src[l.end:]); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		return nil
	}
	before := src[:l.start]
	call := strings.Repeat("\n", strings.Count(before, "\n")) + strings.Repeat(" ", l.start-1-strings.LastIndexByte(before, '\n'))
	return &Cell{Source: fmt.Sprintf("%s%s(0)", call, Name), actions: []action{do}}, nil
}

// formatted formats a cell and replaces it.
func formatted(_ context.Context, r *Run, text string) error {
	text, err := r.session.Format(text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return nil // the cell has no other line
	}
	r.replacement = text
	_, err = fmt.Fprintln(r.session.Stdout(), text)
	return err
}

// explained prints what a cell is compiled to.
func explained(ctx context.Context, r *Run, text string) error {
	cell, err := Parse(text, r.session)
	if err != nil {
		return err
	}
	if text, err = r.session.Explain(ctx, cell.Source, text); err != nil {
		return err
	}
	_, err = io.WriteString(r.session.Stdout(), text)
	return err
}
