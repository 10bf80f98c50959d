package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/quernlab/quern/accel/tensor"
)

// checkOthers compares the ops on the other GPUs of the machine, which may be of another model,
// each in its own process.
func checkOthers(ctx context.Context, o options, r *report, out io.Writer) error {
	if o.device != "cuda" {
		fmt.Fprintf(out, "\nother GPUs: skipped, because -device is %s\n", o.device)
		return nil
	}
	gpus, err := tensor.GPUs()
	if err != nil {
		return err
	}
	if len(gpus) < 2 {
		fmt.Fprintf(out, "\nother GPUs: this machine has only one\n")
		return nil
	}
	for _, g := range gpus[1:] {
		fmt.Fprintf(out, "\n%s, %s", g.Device, g.Name)
		further := o
		further.device, further.from = g.Device, 0
		own := &report{}
		result := own.apart(ctx, further, part{name: "ops"}, os.Getenv(cacheVariable), out)
		r.Part.worse(result.Status, result.Why)
		for i := range own.Ops {
			own.Ops[i].Device = g.Device
		}
		r.take(*own)
	}
	return nil
}

// closeLosses is the relative difference allowed between the losses of a training on several
// ranks and on one: gradients are summed in parts, and each step continues from the rounding
// errors of earlier ones.
const closeLosses = 1e-4

// compareLosses returns an error that names the first step at which the losses differ.
func compareLosses(one, many trained) error {
	if len(one.Losses) == 0 || len(one.Losses) != len(many.Losses) {
		return fmt.Errorf("%s: %d steps, %s: %d steps", one.Words, len(one.Losses), many.Words, len(many.Losses))
	}
	for i, want := range one.Losses {
		if got := many.Losses[i]; !(max(got-want, want-got) <= closeLosses*max(want, 1)) {
			return fmt.Errorf("%s: the loss of step %d is %g, but %g on one rank", many.Words, i, got, want)
		}
	}
	return nil
}
