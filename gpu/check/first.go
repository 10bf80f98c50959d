package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/quernlab/quern/accel/tensor"
)

// firstUse measures the time to the first result: opening the device and loading the kernels of
// one op.
func firstUse(_ context.Context, o options, r *report, out io.Writer) error {
	began := time.Now()
	if err := tensor.SetDevice(o.device); err != nil {
		return err
	}
	tensor.Ones(4).AddScalar(1).Data()
	r.FirstUse = time.Since(began).Seconds()
	const atMost = 2
	fmt.Fprintf(out, "\nfirst use  %.2f s\n", r.FirstUse)
	if r.FirstUse > atMost {
		r.Problems = append(r.Problems, fmt.Sprintf("the first use takes %.2f s, want at most %d s", r.FirstUse, atMost))
	}
	return nil
}
