package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/internal/harness"
)

// limit is how long a program may take. The slowest take some seconds in a session.
const limit = time.Minute

func main() {
	child()
	harness.Main("modules", command)
}

// flags are the flags of the command line.
type flags struct {
	jobs             int
	limit            time.Duration
	run              string
	recorded, update bool
}

func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("modules", flag.ContinueOnError)
	set.IntVar(&f.jobs, "j", 2, "number of programs to run concurrently")
	set.DurationVar(&f.limit, "limit", limit, "how long a program may take")
	set.StringVar(&f.run, "run", "", "run only programs whose name or module matches this regular expression, and show what they print")
	set.BoolVar(&f.recorded, "recorded", false, "compare with the recorded outputs, without compiling the programs")
	set.BoolVar(&f.update, "update", false, "record the outputs, and write docs/modules.md even if modules do not work any more")
	return f, set.Parse(args)
}

// command runs the command line.
func command(ctx context.Context, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
	source, err := harness.SourceFolder(ctx, "interp/internal/modules")
	if err != nil {
		return err
	}
	folder := filepath.Join(source, "testdata")
	programs, err := readPrograms(folder)
	if err != nil {
		return err
	}
	table := filepath.Join(source, "..", "..", "..", "docs", "modules.md")
	d, err := readDocument(table)
	if err != nil {
		return err
	}
	some, err := harness.Matching(programs, f.run, func(p program) []string { return []string{p.name, p.module().Path} })
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := &runner{self: self, limit: f.limit, jobs: f.jobs, recorded: f.recorded}
	results, failed := r.run(ctx, some, func(v result) { show(v, f.run != "") })
	summarize(results)
	if f.update {
		ran := make([]program, len(results))
		for i, v := range results {
			ran[i] = v.program
		}
		if err := record(folder, ran); err != nil {
			return err
		}
	} else if err := d.regressions(results); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, os.WriteFile(table, []byte(d.text(programs, results)), 0o644))
}

// show prints a result, and the first difference, or in detail what the program printed.
func show(v result, detailed bool) {
	fmt.Printf("%-14s %-40s %5.1f s %5.0f MiB  %s\n", v.outcome, v.program.module().Path, v.report.Seconds, v.report.MiB, v.reason)
	switch {
	case v.outcome == differs:
		want, got := difference(v.program.want, v.output)
		fmt.Printf("compiled:    %q\ninterpreted: %q\n", want, got)
	case detailed:
		fmt.Print(v.output)
	}
}

// difference returns the first lines in which two outputs differ.
func difference(want, got string) (wantLine, gotLine string) {
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i]
		}
	}
	return "", ""
}

// summarize prints how many programs have each outcome.
func summarize(results []result) {
	counts := map[outcome]int{}
	for _, v := range results {
		counts[v.outcome]++
	}
	fmt.Printf("%d programs:", len(results))
	for _, o := range []outcome{works, rejected, differs, internal} {
		fmt.Printf(" %d %s", counts[o], o)
	}
	fmt.Println()
}
