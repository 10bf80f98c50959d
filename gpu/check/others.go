package main

import (
	"context"
	"fmt"
	"io"

	"github.com/quernlab/quern/accel/tensor"
)

// checkOthers compares the ops on the further GPUs of the machine, which may be of
// another kind, each in a process of its own.
func checkOthers(ctx context.Context, o options, r *report, out io.Writer) error {
	if o.device != "cuda" {
		fmt.Fprintf(out, "\nfurther GPUs: not looked at, %s is asked for\n", o.device)
		return nil
	}
	gpus, err := tensor.GPUs()
	if err != nil {
		return err
	}
	if len(gpus) < 2 {
		fmt.Fprintf(out, "\nfurther GPUs: this machine has one, so nothing is done on several\n")
		return nil
	}
	for _, g := range gpus[1:] {
		fmt.Fprintf(out, "\n%s, %s", g.Device, g.Name)
		further := o
		further.device, further.from = g.Device, 0
		own := &report{}
		own.apart(ctx, further, part{name: "ops"}, out)
		for i := range own.Ops {
			own.Ops[i].Device = g.Device
		}
		r.take(*own)
	}
	return nil
}

// closeLosses is how far the losses of a training on several ranks may be from those on
// one, as a share: batches are added up in parts, and each step begins with the
// roundings of those before.
const closeLosses = 1e-4

// compareLosses says where a training on several ranks leaves that on one.
func compareLosses(one, many measured) error {
	if len(one.Losses) == 0 || len(one.Losses) != len(many.Losses) {
		return fmt.Errorf("%s: %d steps, %s: %d steps", one.Words, len(one.Losses), many.Words, len(many.Losses))
	}
	for i, want := range one.Losses {
		if got := many.Losses[i]; !(max(got-want, want-got) <= closeLosses*max(want, 1)) {
			return fmt.Errorf("%s: the loss of step %d is %g, and %g on one", many.Words, i, got, want)
		}
	}
	return nil
}
