package magic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Ranks are the processes that run each cell together. This is one of them.
type Ranks interface {
	// Rank is the number of this one, from 0.
	Rank() int
	// Once calls f on rank 0 alone. All ranks return when it has, with its error.
	// The step is the number of the command in its cell.
	Once(ctx context.Context, step int, f func() error) error
	// Start has a number of ranks start in place of these when the cell has ended,
	// or PerGPU; 0 only asks. It returns what is to be said of them.
	Start(ctx context.Context, number int) (string, error)
}

// PerGPU, as a number of ranks, is one for each GPU.
const PerGPU = -1

// Alone is the one rank of a session without a kernel.
type Alone struct{}

// Rank is 0.
func (Alone) Rank() int { return 0 }

// Once calls f.
func (Alone) Once(_ context.Context, _ int, f func() error) error { return f() }

// Start refuses.
func (Alone) Start(context.Context, int) (string, error) {
	return "", errors.New("there is no kernel here that could start ranks")
}

var ranks = command{
	name: "%ranks", usage: "%ranks [number | gpus]", alone: true,
	doc: "has so many workers run each cell together, or one for each GPU; without a number it tells which do",
	prepare: func(text string) (action, error) {
		number := 0
		switch n, err := strconv.Atoi(text); {
		case text == "":
		case text == "gpus":
			number = PerGPU
		case err != nil || n < 1:
			return nil, fmt.Errorf("%%ranks needs a number, or gpus, and has %q: %%ranks 4", text)
		default:
			number = n
		}
		return func(ctx context.Context, r *Run, _ []any) error {
			text, err := r.session.Ranks().Start(ctx, number)
			if err != nil {
				return fmt.Errorf("%%ranks: %w", err)
			}
			if text == "" { // another rank says it
				return nil
			}
			_, err = fmt.Fprintln(r.session.Stdout(), text)
			return err
		}, nil
	},
}
