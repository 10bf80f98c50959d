package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	device  string
	quick   bool
	python  string
	names   []string
	rounds  int
	slice   float64 // seconds
	limit   time.Duration
	save    bool
	results string
	check   bool
	kinds   bool
	cold    bool

	profile      string   // file for profiles instead of measurements
	steps        int      // to run, and nothing else
	variants     []string // settings to compare with the default
	variantsFile string
}

// simulated reports whether the GPU is simulated.
func (o options) simulated() bool { return strings.HasPrefix(o.device, "simulated") }

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		serve(os.Args[2:], os.Stdin, os.Stdout)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func parse() options {
	o := options{}
	flag.StringVar(&o.device, "device", "cpu", "`device` to measure: cpu, cuda, cuda:1, or simulated")
	flag.BoolVar(&o.quick, "quick", false, "with a GPU: small sizes and one step, to test the program itself")
	flag.StringVar(&o.python, "python", "", "`interpreter` that can import torch, jax or both; without it only Quern is measured")
	names := flag.String("bench", "all", "comma-separated `benchmarks`; a wrong one lists those of the device")
	flag.IntVar(&o.rounds, "rounds", 7, "number of `rounds`; each round measures every framework once")
	flag.Float64Var(&o.slice, "slice", 0.15, "`seconds` of one measurement")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "`time` limit of a reply of a process: it ends a kernel that never returns")
	flag.BoolVar(&o.save, "save", false, "store the result in the folder of -results, in the file of this machine")
	flag.StringVar(&o.results, "results", filepath.Join("accel", "bench", "results"), "`folder` of the committed results")
	flag.BoolVar(&o.check, "check", false, "exit with status 1 if a benchmark is more than 10 % slower than in the last committed result")
	flag.BoolVar(&o.kinds, "kinds", false, "measure nothing, but compare the committed results of all kinds of CPUs")
	flag.BoolVar(&o.cold, "cold", false, "empty the caches before each step; else they contain what the step before has left there, as in a training")
	flag.StringVar(&o.profile, "profile", "", "with one -bench and a GPU: profile a step in Quern and write the kernels to a `file`")
	flag.IntVar(&o.steps, "steps", 0, "with one -bench: run `n` steps in Quern and nothing else, for a tool that watches them")
	variants := flag.String("variants", "", "with one -bench and a GPU: comma-separated `settings` of QUERN_CUDA_VARIANTS, or libraries=off, each of which is compared with the default")
	flag.StringVar(&o.variantsFile, "variants-file", "", "`file` for the results of -variants")
	flag.Parse()
	o.names = strings.Split(*names, ",")
	if *names == "all" {
		o.names = o.caseNames()
	}
	if o.cold {
		for i := range o.names {
			o.names[i] += coldSuffix
		}
	}
	if *variants != "" {
		o.variants = strings.Split(*variants, ",")
	}
	o.rounds = max(o.rounds, 1)
	if o.quick {
		o.rounds, o.slice = 1, 0
	}
	return o
}

// confirmations is how often an apparently slower benchmark is measured again, because other
// users may slow down the machine for a while.
const confirmations = 2

// errRegression is the error of -check, errDisagreement that of a run in which another framework
// computed other losses, and errFailed that of a run in which Quern failed; they come after all
// figures have been printed.
var (
	errRegression   = errors.New("slower than the last committed run")
	errDisagreement = errors.New("not all losses agree: see the lines above")
	errFailed       = errors.New("Quern failed: see the lines above")
)

// runOne does something else than measuring with one benchmark.
func runOne(ctx context.Context, o options) error {
	if len(o.names) != 1 {
		return errors.New("-profile, -steps and -variants need one -bench")
	}
	c, err := o.caseNamed(o.names[0])
	switch {
	case err != nil:
		return err
	case o.steps > 0:
		return o.runSteps(c)
	case o.profile != "":
		return o.writeProfile(ctx, c)
	}
	return o.measureVariants(ctx, c)
}

func run(ctx context.Context, o options) error {
	if o.kinds {
		return printKinds(os.Stdout, o.results)
	}
	if o.profile != "" || o.steps > 0 || len(o.variants) > 0 {
		return runOne(ctx, o)
	}
	found, failure := measure(ctx, o)
	disagrees, failed := false, false
	for _, name := range o.names {
		f := found.Figures[name]
		disagrees = disagrees || len(f.Disagrees) > 0
		failed = failed || slices.ContainsFunc(sortedKeys(f.Failed), isQuern)
	}
	if disagrees {
		failure = errors.Join(failure, errDisagreement)
	}
	if failed {
		failure = errors.Join(failure, errFailed)
	}
	if len(found.Figures) == 0 || ctx.Err() != nil {
		return failure
	}
	if o.save {
		fmt.Println("\nstored in", filepath.Join(o.results, found.Machine.fileName()))
		o.save = false
	}
	last := found.last
	if last == nil {
		fmt.Printf("\nno committed run of this machine in %s: nothing to compare with\n", o.results)
		return failure
	}
	worse := compare(*last, found)
	for range confirmations {
		if len(worse) == 0 {
			break
		}
		printComparison(os.Stdout, *last, worse)
		fmt.Println("measured again; the faster of the two counts:")
		o.names, o.python = benchesOf(worse), "" // the others' times do not matter
		again, err := measure(ctx, o)
		if err != nil {
			return errors.Join(err, failure)
		}
		keepFaster(found, again)
		worse = compare(*last, found)
	}
	printComparison(os.Stdout, *last, worse)
	if o.check && len(worse) > 0 {
		return errors.Join(errRegression, failure)
	}
	return failure
}
