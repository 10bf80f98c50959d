package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// options are the flags.
type options struct {
	python  string
	names   []string
	rounds  int
	slice   float64 // seconds
	save    bool
	results string
	check   bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		serve(os.Stdin, os.Stdout)
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
	flag.StringVar(&o.python, "python", "", "`interpreter` that can import torch, jax or both; without it only Quern is measured")
	names := flag.String("bench", "all", "comma-separated `benches`: "+strings.Join(caseNames(), ", "))
	flag.IntVar(&o.rounds, "rounds", 7, "number of `rounds`; each round measures every framework once")
	flag.Float64Var(&o.slice, "slice", 0.15, "`seconds` of one measurement")
	flag.BoolVar(&o.save, "save", false, "store the result in the folder of -results, in the file of this machine")
	flag.StringVar(&o.results, "results", filepath.Join("accel", "bench", "results"), "`folder` of the committed results")
	flag.BoolVar(&o.check, "check", false, "exit with status 1 if a benchmark is more than 10 % slower than in the last committed result")
	flag.Parse()
	o.names = strings.Split(*names, ",")
	if *names == "all" {
		o.names = caseNames()
	}
	o.rounds = max(o.rounds, 1)
	return o
}

// confirmations is how often an apparently slower benchmark is measured again, because other
// users may slow down the machine for a while.
const confirmations = 2

// errRegression is the error of -check, and errDisagreement that of a run in which another
// framework computed other losses; both come after all figures have been printed.
var (
	errRegression   = errors.New("slower than the last committed run")
	errDisagreement = errors.New("not all losses agree: see the lines above")
)

func run(ctx context.Context, o options) error {
	found, err := measure(ctx, o)
	if err != nil {
		return err
	}
	var failure error
	for _, f := range found.Figures {
		if len(f.Disagrees) > 0 {
			failure = errDisagreement
		}
	}
	last, err := lastResult(o.results, found.Machine)
	if err != nil {
		return err
	}
	if o.save {
		path, err := save(o.results, found)
		if err != nil {
			return err
		}
		fmt.Println("\nstored in", path)
	}
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
			return err
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
