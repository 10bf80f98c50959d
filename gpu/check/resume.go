package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/tensor"
)

// hung is the status of a process in which a piece did not come to an end.
const hung = 4

// patienceOf is the time for one piece, long where the processor plays the GPU, which
// is as slow as the machine is busy.
func (o options) patienceOf() time.Duration {
	patience := o.patience
	if patience == 0 {
		patience = defaultPatience
	}
	if strings.HasPrefix(o.device, "simulated") {
		patience *= 10
	}
	return patience
}

const defaultPatience = 90 * time.Second

// each does the pieces of a part, one after the other. In a process of its own it
// writes the report before each of them, so that the one that waits for it knows how
// far it came. A piece that takes too long, as a kernel does that waits for ever, ends
// the process, and so does one that loses the GPU; another one goes on behind it.
func (r *report) each(ctx context.Context, o options, pieces []string, do func(i int) error) error {
	var failed error
	patience := o.patienceOf()
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
		watch := time.AfterFunc(patience, func() {
			fmt.Fprintf(os.Stderr, "no end in %v, the GPU may wait for ever\n", patience)
			os.Exit(hung)
		})
		failed = errors.Join(failed, do(i))
		watch.Stop()
		r.Running = ""
		if err := tensor.Lost(); err != nil && i+1 < len(pieces) {
			return failed // Next says where to go on
		}
	}
	r.Next = 0
	return failed
}
