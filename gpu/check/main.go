package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// options are the flags.
type options struct {
	device string
	quick  bool
	only   string
	python string
	out    string
}

func main() {
	o := options{}
	flag.StringVar(&o.device, "device", "cuda", "`device` to check: cuda, cuda:1, or simulated")
	flag.BoolVar(&o.quick, "quick", false, "small sizes, to try the program itself")
	flag.StringVar(&o.only, "only", "", "`part` to run: ops or bench; both without")
	flag.StringVar(&o.python, "python", "python3", "`interpreter` to look for PyTorch in; empty for none")
	flag.StringVar(&o.out, "out", filepath.Join("gpu", "results"), "`folder` for the result")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "check: %v\n", err)
		os.Exit(1)
	}
}

// errWrong is why the check fails.
var errWrong = errors.New("ops on the device differ from the processor's")

func run(ctx context.Context, o options, out io.Writer) (err error) {
	defer nn.Catch(&err)
	began := time.Now()
	if err := tensor.Use(o.device); err != nil {
		return err
	}
	tensor.Ones(4).AddScalar(1).Data() // the first use of a device loads its kernels
	r := report{Date: began.UTC().Format(time.RFC3339), Device: o.device, FirstUse: time.Since(began).Seconds(), Quick: o.quick}
	r.describe(o.device)
	r.printMachine(out)
	if o.only != "bench" {
		if err := checkOps(ctx, o, &r, out); err != nil {
			return err
		}
	}
	if o.only != "ops" {
		if err := measure(ctx, o, &r, out); err != nil {
			return err
		}
	}
	path, err := r.save(o.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nwritten to %s\n", path)
	if r.Wrong > 0 {
		return fmt.Errorf("%w: %d of %d", errWrong, r.Wrong, len(r.Ops))
	}
	return nil
}
