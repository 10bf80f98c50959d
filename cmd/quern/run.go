package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/notebook/compare"
	"github.com/quernlab/quern/kernel/notebook/parameter"
)

const runUsage = `quern run executes notebooks without Python and without a browser.

  quern run nb.ipynb                     print the output of the cells
  quern run nb.ipynb -o done.ipynb       and write the executed notebook
  quern run nb.ipynb --timeout 60s       interrupt a cell that runs longer
  quern run nb.ipynb --param x=3         set x after the cell tagged "parameters"
  quern run -j 4 *.ipynb                 four notebooks at the same time
  quern run -w nb.ipynb…                 write changed outputs into the notebook
  quern run --compare nb.ipynb…          fail if outputs differ from those in the notebook
  quern run --junit report.xml nb.ipynb… write a report for CI systems

The value of a parameter is a Go literal (3, 0.5, true, "text", []int{1, 2}) with
the type of the variable in the cell, or any other text, which is taken as a
string. It is data and is never executed. Without a cell tagged "parameters", it is
defined before the first cell. Cells run in the notebook's folder. At the first
cell that fails, quern run stops, reports the cell and its error, and exits with
status 1; -o is still written. A cell tagged "raises-exception" may fail, a cell
tagged "skip-execution" does not run.

With several notebooks, all of them run, one line for each says how it went, and the
output of those that fail is printed. -j 0 runs as many at the same time as there are
cores. -o is then a folder.

-w changes nothing but outputs that differ: execution counts, ids and metadata stay, so
that a run without changes leaves the file as it is. --compare compares texts, and of
images and HTML only whether they are there. Numbers may differ by --atol plus --rtol
times the number in the notebook; both are 0 unless set, and -w uses them too. The
outputs of a cell tagged "nbval-ignore-output" are not compared.

Where GITHUB_ACTIONS is set, or with --github, failures are also printed as annotations
of GitHub, which point at the line in the file.

After a cell with "%ranks 4", four processes run each of the following cells. If it
is started by torchrun, mpirun or srun, quern run is one of several ranks, and rank 0
writes -o.
`

// runOptions are the flags of quern run.
type runOptions struct {
	output     string // -o
	timeout    duration
	parameters parameter.Set
	jobs       int
	update     bool // -w
	compare    bool
	tolerance  compare.Tolerance
	junit      string
	github     bool
}

func runRun(ctx context.Context, args []string, std stdio) error {
	o := runOptions{github: os.Getenv("GITHUB_ACTIONS") == "true"}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&o.output, "o", "", "")
	flags.Var(&o.timeout, "timeout", "")
	flags.Var(&o.parameters, "param", "")
	flags.IntVar(&o.jobs, "j", 1, "")
	flags.BoolVar(&o.update, "w", false, "")
	flags.BoolVar(&o.compare, "compare", false, "")
	flags.Float64Var(&o.tolerance.Relative, "rtol", 0, "")
	flags.Float64Var(&o.tolerance.Absolute, "atol", 0, "")
	flags.StringVar(&o.junit, "junit", "", "")
	flags.BoolVar(&o.github, "github", o.github, "")
	paths, err := parseNotebooks(flags, runUsage, args, std)
	if err != nil {
		return err
	}
	paths = distinct(paths)
	if err := o.check(paths); err != nil {
		return err
	}
	jobs := make([]*job, len(paths))
	for i, path := range paths {
		jobs[i] = newJob(path, o)
	}
	out := &lineWriter{Writer: std.out}
	if len(jobs) == 1 {
		jobs[0].stdin = os.Stdin
		err = jobs[0].run(ctx, o, stdio{out, std.err})
	} else {
		err = runAll(ctx, jobs, o, stdio{out, std.err})
	}
	if o.github {
		out.endLine()
		for _, j := range jobs {
			j.annotate(out)
		}
	}
	if o.junit != "" && isFirst() {
		err = errors.Join(err, writeJUnit(o.junit, jobs))
	}
	return err
}

// distinct returns the paths without those of files that are there already: patterns of a CI job overlap, and a notebook
// that runs twice at the same time would write the same files.
func distinct(paths []string) (different []string) {
	seen := map[string]bool{}
	for _, path := range paths {
		if clean := filepath.Clean(path); !seen[clean] {
			seen[clean] = true
			different = append(different, path)
		}
	}
	return different
}

// check reports flags that contradict each other, and what would fail only after cells have run for hours.
func (o *runOptions) check(paths []string) error {
	wrong := func(message, hint string) error { return &usageError{"run: " + message, hint} }
	switch {
	case o.timeout < 0:
		return wrong("the timeout is negative", "quern run nb.ipynb --timeout 60s")
	case o.jobs < 0:
		return wrong("-j is negative", "-j 0 runs as many notebooks at the same time as there are cores")
	case o.tolerance.Relative < 0 || o.tolerance.Absolute < 0:
		return wrong("a tolerance is negative", "--rtol 1e-3 accepts numbers that differ by a thousandth")
	case o.tolerance != (compare.Tolerance{}) && !o.compare && !o.update:
		return wrong("--rtol and --atol belong to --compare or -w", "quern run --compare --rtol 1e-3 nb.ipynb")
	case o.compare && o.update:
		return wrong("only one of --compare and -w is allowed", "run --compare first, and -w to accept what differs")
	case (o.compare || o.update) && len(o.parameters) > 0:
		return wrong("--compare and -w do not take --param", "the outputs in the file are those of its own values")
	}
	if o.jobs == 0 {
		o.jobs = runtime.NumCPU()
	}
	if o.junit != "" {
		if err := mayWrite(filepath.Dir(o.junit)); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if o.update {
		for _, path := range paths {
			if err := mayWrite(filepath.Dir(path)); err != nil {
				return fmt.Errorf("-w: %w", err)
			}
		}
	}
	switch {
	case o.output == "":
	case len(paths) > 1:
		names := map[string]string{}
		for _, path := range paths {
			name := filepath.Base(path)
			if other, twice := names[name]; twice {
				return fmt.Errorf("-o: %s and %s have the same name; run them one after the other", other, path)
			}
			names[name] = path
		}
		if err := os.MkdirAll(o.output, 0o777); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
		if err := mayWrite(o.output); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	default:
		if err := mayWrite(filepath.Dir(o.output)); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
		if info, err := os.Stat(o.output); err == nil && info.IsDir() {
			return fmt.Errorf("-o: %s is a directory; give a file name, such as %s", o.output, filepath.Join(o.output, filepath.Base(paths[0])))
		}
	}
	return nil
}

// mayWrite returns an error if no file can be made in a folder. Only trying shows that on all systems.
func mayWrite(folder string) error {
	f, err := os.CreateTemp(folder, ".quern-*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return fmt.Errorf("cannot write in %s: %w", folder, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// readGo reads a notebook and checks that its language is Go.
func readGo(path string) (*notebook.Notebook, error) {
	n, _, err := readGoText(path)
	return n, err
}

// readGoText reads a notebook, checks that its language is Go, and also returns its text.
func readGoText(path string) (*notebook.Notebook, []byte, error) {
	n, text, err := notebook.ReadText(path)
	if err != nil {
		return nil, nil, err
	}
	if language := n.Language(); language != "" && language != "go" {
		return nil, nil, fmt.Errorf("%s is a notebook for %s, not for Go", path, language)
	}
	return n, text, nil
}

// isFirst reports whether this process is the rank that writes files.
func isFirst() bool {
	place, err := parallel.FromEnvironment(os.LookupEnv)
	return err != nil || place.Rank == 0
}

// showsColors reports whether w is a terminal whose user wants colors; see
// no-color.org.
func showsColors(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// duration is the value of --timeout.
type duration time.Duration

func (d *duration) String() string { return time.Duration(*d).String() }

// Set parses a number with a unit.
func (d *duration) Set(s string) error {
	value, err := time.ParseDuration(s)
	if _, number := strconv.ParseFloat(s, 64); err != nil && number == nil {
		return fmt.Errorf("the unit is missing: write %ss for seconds or %[1]sm for minutes", s)
	} else if err != nil {
		return errors.New("want a number with a unit, such as 90s, 1.5m or 2h")
	}
	*d = duration(value)
	return nil
}
