package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/quernlab/quern/accel/tensor"
)

// hung is the exit status of a process whose piece did not terminate.
const hung = 4

// pieceLimitOf returns the time limit of one piece. It is long for the simulated GPU, whose speed
// depends on the load of the machine.
func (o options) pieceLimitOf() time.Duration {
	pieceLimit := o.pieceLimit
	if pieceLimit == 0 {
		pieceLimit = defaultPatience
	}
	if o.simulated() {
		pieceLimit *= 10
	}
	return pieceLimit
}

const defaultPatience = 90 * time.Second

// each runs the pieces of a part one after the other. In a process of its own it writes the
// report before each piece, so that the parent process knows how far it came. A piece that
// exceeds its time limit, such as a kernel that never returns, ends the process, and so does
// one that makes the GPU unusable; another process then continues with the next piece.
func (r *report) each(ctx context.Context, o options, pieces []string, do func(i int) error) error {
	var failed error
	pieceLimit := o.pieceLimitOf()
	for i := o.from; i < len(pieces); i++ {
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
		if o.result == "" {
			failed = errors.Join(failed, do(i))
			continue
		}
		r.Next, r.Running = i+1, pieces[i]
		if err := r.write(o.result); err != nil {
			return err
		}
		watch := time.AfterFunc(pieceLimit, func() {
			fmt.Fprintf(os.Stderr, "no result in %v: a kernel may never return\n", pieceLimit)
			os.Exit(hung)
		})
		failed = errors.Join(failed, do(i))
		watch.Stop()
		r.Running = ""
		if err := tensor.DeviceLost(); err != nil && i+1 < len(pieces) {
			return failed // Next is the piece to continue with
		}
	}
	r.Next = 0
	return failed
}
