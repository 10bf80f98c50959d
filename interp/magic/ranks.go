package magic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Ranks has the processes that run each cell together. This process is one of them.
type Ranks interface {
	// Rank returns the number of this process, from 0.
	Rank() int
	// Number returns how many ranks there are.
	Number() int
	// Once calls f on rank 0 only. On all ranks it returns when f has returned, with the
	// results of f. step is the number of the command in its cell.
	Once(ctx context.Context, step int, f func() (output string, err error)) (output string, err error)
	// Start replaces these ranks by a number of new ones, which may be PerGPU, when the cell
	// has ended; 0 changes nothing. It returns a description of the ranks.
	Start(ctx context.Context, number int) (string, error)
	// Restart replaces these ranks by as many new ones when the cell has ended. They run a program, or
	// the present one if it is "".
	Restart(ctx context.Context, program string) (string, error)
}

// PerGPU, as a number of ranks, means one for each GPU.
const PerGPU = -1

// Alone is the one rank of a session without a kernel.
type Alone struct{}

// Rank is 0.
func (Alone) Rank() int { return 0 }

func (Alone) Number() int { return 1 }

// Once calls f.
func (Alone) Once(_ context.Context, _ int, f func() (string, error)) (string, error) { return f() }

// Start returns an error.
func (Alone) Start(context.Context, int) (string, error) {
	return "", errors.New("ranks need a kernel: run the cell in a notebook or with quern run")
}

// Restart returns an error.
func (Alone) Restart(context.Context, string) (string, error) {
	return "", errors.New("a new worker needs a kernel: run the cell in a notebook or with quern run")
}

var ranks = command{
	name: "%ranks", usage: "%ranks [number | gpus]", alone: true,
	doc: "sets how many workers run each cell together, or one for each GPU; without a number it shows them",
	prepare: func(text string) (action, error) {
		number := 0
		switch n, err := strconv.Atoi(text); {
		case text == "":
		case text == "gpus":
			number = PerGPU
		case err != nil || n < 1:
			return nil, fmt.Errorf("%%ranks needs a number or gpus, but has %q: %%ranks 4", text)
		default:
			number = n
		}
		return func(ctx context.Context, r *Run, _ []any) error {
			text, err := r.session.Ranks().Start(ctx, number)
			if err != nil {
				return fmt.Errorf("%%ranks: %w", err)
			}
			if text == "" { // another rank prints it
				return nil
			}
			_, err = fmt.Fprintln(r.session.Stdout(), text)
			return err
		}, nil
	},
}
