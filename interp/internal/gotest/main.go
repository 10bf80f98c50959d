package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/internal/harness"
)

// limit is how long a test may take. The slowest takes a second when compiled.
const limit = 10 * time.Second

func main() {
	child()
	harness.Main("gotest", command)
}

// flags are the flags of the command line.
type flags struct {
	jobs                    int
	limit                   time.Duration
	run, json               string
	update, oracle, verbose bool
}

func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("gotest", flag.ContinueOnError)
	set.IntVar(&f.jobs, "j", 2, "number of tests to run concurrently")
	set.DurationVar(&f.limit, "limit", limit, "how long a test may take")
	set.StringVar(&f.run, "run", "", "run only tests whose name matches this regular expression, and show their output")
	set.StringVar(&f.json, "json", "", "also write the table to this file")
	set.BoolVar(&f.update, "update", false, "regenerate failures.txt")
	set.BoolVar(&f.oracle, "oracle", false, "regenerate oracle.txt")
	set.BoolVar(&f.verbose, "v", false, "print each result at once")
	return f, set.Parse(args)
}

// command runs the command line. The error names the tests that do not pass any more.
func command(ctx context.Context, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
	root, err := testRoot(ctx)
	if err != nil {
		return err
	}
	names, err := find(root)
	if err != nil {
		return err
	}
	if names, err = harness.Matching(names, f.run, func(name string) []string { return []string{name} }); err != nil {
		return err
	}
	if f.oracle {
		return consultAll(ctx, f, root, names)
	}
	return measure(ctx, f, root, names)
}

// testRoot returns the folder of the tests of the Go distribution in use.
func testRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("run go env GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "test"), nil
}

// consultAll writes oracle.txt. It keeps the lines of tests that are not in names.
func consultAll(ctx context.Context, f flags, root string, names []string) error {
	o, err := readOracle(oracleText, root)
	if err != nil {
		return err
	}
	o.release = release()
	var mu sync.Mutex
	var failed []error // collected, so that one failure does not discard the other results
	err = parallel(ctx, f.jobs, len(names), func(ctx context.Context, i int) error {
		answer, err := consult(ctx, root, names[i])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = append(failed, err)
			return ctx.Err()
		}
		o.known[names[i]] = answer
		return nil
	})
	if err != nil {
		return err
	}
	failed = append(failed, writeSource(ctx, "oracle.txt", o.text()))
	return errors.Join(failed...)
}

// measure runs the tests and prints their results.
func measure(ctx context.Context, f flags, root string, names []string) error {
	g, err := newRunner(root)
	if err != nil {
		return err
	}
	g.jobs, g.limit = f.jobs, f.limit
	results, err := g.run(ctx, g.oracle.works(names), func(v result) {
		if f.verbose || f.run != "" {
			fmt.Printf("%s %s (%.1f s) %s\n%s", v.Outcome, v.Name, v.Seconds, v.Message, v.Output)
		}
	})
	if err != nil {
		return err
	}
	printCauses(os.Stdout, results, g.known)
	printTable(os.Stdout, results)
	if f.json != "" {
		text, err := json.MarshalIndent(results, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if f.update {
		return writeSource(ctx, "failures.txt", g.known.after(results).text())
	}
	return g.known.regressions(results, os.Stdout)
}

func newRunner(root string) (*runner, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &runner{root: root, program: program, limit: limit, jobs: 2}
	if g.oracle, err = readOracle(oracleText, root); err != nil {
		return nil, err
	}
	if g.known, err = readFailures(failuresText); err != nil {
		return nil, err
	}
	return g, g.oracle.check()
}

func writeSource(ctx context.Context, name, text string) error {
	folder, err := harness.SourceFolder(ctx, "interp/internal/gotest")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)
}
