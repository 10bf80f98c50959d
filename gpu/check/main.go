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
	"strings"
	"time"
)

// options are the flags.
type options struct {
	device   string
	quick    bool
	only     string
	python   string
	out      string
	programs string
	budget   time.Duration
	result   string // file for the report of one part

	from       int           // index of the first piece of the part
	pieceLimit time.Duration // time limit of one piece
}

func main() {
	o := options{}
	flag.StringVar(&o.device, "device", "cuda", "`device` to check: cuda, cuda:1, or simulated")
	flag.BoolVar(&o.quick, "quick", false, "small sizes, to test the program itself")
	flag.StringVar(&o.only, "only", "", "one `part` to run: "+strings.Join(partNames(), ", ")+"; all if empty")
	flag.StringVar(&o.python, "python", "python3", "Python `interpreter`, whose PyTorch is measured too if it has one; empty: skip PyTorch")
	flag.StringVar(&o.out, "out", filepath.Join("gpu", "results"), "`folder` of the result files")
	flag.StringVar(&o.programs, "programs", "", "`folder` of "+kernelProgram+" and "+benchProgram+"; by default that of this program")
	flag.DurationVar(&o.budget, "budget", 9*time.Minute, "`time` budget of all parts; the report lists parts that were left out")
	flag.StringVar(&o.result, "result", "", "`file` for the report of -only, instead of -out")
	flag.IntVar(&o.from, "from", 0, "`index` of the first piece of -only")
	flag.DurationVar(&o.pieceLimit, "patience", defaultPatience, "`time` limit of one piece of a part")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "check: %v\n", err)
		os.Exit(1)
	}
}

// errWrong says why the check fails.
var errWrong = errors.New("the device computes wrong results")

// run runs all parts, each in its own process: after an error such as an invalid memory access,
// the GPU is unusable for the process with the error, but not for others.
func run(ctx context.Context, o options, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.budget)
	defer cancel()
	began := time.Now()
	r := &report{Date: began.UTC().Format(time.RFC3339), Device: o.device, Quick: o.quick, Problems: []string{}}
	if o.only != "" {
		return runOne(ctx, o, r, out)
	}
	r.describe(o.device)
	r.printMachine(out)
	if r.Missing != "" {
		return errors.New(r.Missing)
	}
	for _, p := range parts {
		if p.hidden {
			continue
		}
		begin := time.Now()
		if ctx.Err() != nil {
			r.problem(out, "%s: not run: the time budget of %v is used up", p.name, o.budget)
			continue
		}
		r.apart(ctx, o, p, out)
		if r.Seconds == nil {
			r.Seconds = map[string]float64{}
		}
		r.Seconds[p.name] = time.Since(begin).Seconds()
		if _, err := r.save(o.out); err != nil { // after each part, so that no result is lost
			return err
		}
	}
	path, err := r.save(o.out)
	if err != nil {
		return err
	}
	r.printProblems(out)
	fmt.Fprintf(out, "\n%.0f s, written to %s\n", time.Since(began).Seconds(), path)
	if wrong := r.Wrong + r.KernelsWrong; wrong > 0 {
		return fmt.Errorf("%w: %d of %d ops, %d of %d kernel tests", errWrong, r.Wrong, len(r.Ops), r.KernelsWrong, len(r.Kernels))
	}
	return nil
}
