package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// limit is what a test may take. Compiled, the slowest takes a second.
const limit = 10 * time.Second

func main() {
	child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// flags are those of the command line.
type flags struct {
	jobs                    int
	limit                   time.Duration
	run, json               string
	update, oracle, verbose bool
}

func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("gotest", flag.ContinueOnError)
	set.IntVar(&f.jobs, "j", 2, "tests at a time")
	set.DurationVar(&f.limit, "limit", limit, "what a test may take")
	set.StringVar(&f.run, "run", "", "only tests whose name matches this regular expression; shows what they print")
	set.StringVar(&f.json, "json", "", "write the table to this file too")
	set.BoolVar(&f.update, "update", false, "write failures.txt again")
	set.BoolVar(&f.oracle, "oracle", false, "write oracle.txt again")
	set.BoolVar(&f.verbose, "v", false, "print each verdict as it comes")
	return f, set.Parse(args)
}

// command does what the command line says. Its error tells which files stopped
// passing.
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
	if names, err = matching(names, f.run); err != nil {
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
		return "", fmt.Errorf("asking go for its root: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "test"), nil
}

// sourceFile returns the path of a file of this package.
func sourceFile(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/quernlab/quern/interp/internal/gotest").Output()
	if err != nil {
		return "", fmt.Errorf("asking go where the source of this command is: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), name), nil
}

func matching(names []string, pattern string) ([]string, error) {
	r, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var some []string
	for _, name := range names {
		if r.MatchString(name) {
			some = append(some, name)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no test has a name that matches %q", pattern)
	}
	return some, nil
}

// consultAll writes oracle.txt, keeping the lines of files that were not named.
func consultAll(ctx context.Context, f flags, root string, names []string) error {
	o, err := readOracle(oracleText, root)
	if err != nil {
		return err
	}
	o.release = release()
	var mu sync.Mutex
	var failed []error // one must not lose the answers of a thousand others
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

// measure runs the tests and prints what came of them.
func measure(ctx context.Context, f flags, root string, names []string) error {
	g, err := newGauge(root)
	if err != nil {
		return err
	}
	g.jobs, g.limit = f.jobs, f.limit
	verdicts, err := g.run(ctx, g.oracle.works(names), func(v verdict) {
		if f.verbose || f.run != "" {
			fmt.Printf("%s %s (%.1f s) %s\n%s", v.Outcome, v.Name, v.Seconds, v.Message, v.Output)
		}
	})
	if err != nil {
		return err
	}
	printCauses(os.Stdout, verdicts, g.known)
	printTable(os.Stdout, verdicts)
	if f.json != "" {
		text, err := json.MarshalIndent(verdicts, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if f.update {
		return writeSource(ctx, "failures.txt", g.known.after(verdicts).text())
	}
	return g.known.regressions(verdicts, os.Stdout)
}

func newGauge(root string) (*gauge, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &gauge{root: root, program: program, limit: limit, jobs: 2}
	if g.oracle, err = readOracle(oracleText, root); err != nil {
		return nil, err
	}
	if g.known, err = readFailures(failuresText); err != nil {
		return nil, err
	}
	return g, g.oracle.check()
}

func writeSource(ctx context.Context, name, text string) error {
	path, err := sourceFile(ctx, name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
