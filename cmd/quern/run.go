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
	"slices"
	"strconv"
	"strings"
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
  quern run --exclude drafts .           the notebooks for Go below a folder, without some

The value of a parameter is a Go literal (3, 0.5, true, "text", []int{1, 2}) with
the type of the variable in the cell, or any other text, which is taken as a
string. It is data and is never executed. Without a cell tagged "parameters", it is
defined before the first cell. Cells run in the notebook's folder. At the first
cell that fails, quern run stops, reports the cell and its error, and exits with
status 1; -o is still written. With --keep-going, the cells after it run too. A cell tagged
"raises-exception" may fail, a cell tagged "skip-execution" does not run. Cells have the
numbers that they show in brackets, as in [3], when all have run in order.

--notebook-timeout 10m limits a whole notebook. With --retries 2, a notebook that fails runs
up to two more times, with a new worker; if it then succeeds, it is reported as flaky.

With several notebooks, all of them run, one line for each says how it went, and the
output of those that fail is printed. -j 0 runs as many at the same time as there are
cores. -o is then a folder, in which the notebooks are in the folders that they are in
here. Of a folder or a pattern such as '**/*.ipynb', the notebooks for Go run; those for
other languages and those in hidden folders do not. --exclude, which may be repeated,
leaves out files and folders that match a pattern.

--check-order does not run a notebook, and fails, if its saved outputs cannot come from running
it from top to bottom: its execution counts do not ascend, a cell did not run above one that
did, or a cell uses a name that only a cell below it defines. Each such cell is reported.

-w changes nothing but outputs that differ, and execution counts that are missing: ids and
metadata stay, so that a run without changes leaves the file as it is. --compare compares
texts, and of images and HTML only whether they are there. Numbers may differ by --atol
plus --rtol times the number in the notebook; both are 0 unless set. --normalize
'pattern=text', which may be repeated, first replaces what matches a regular expression,
as in --normalize '\d\d:\d\d=TIME'; --normalize @file reads a line for each. -w uses all of
these too. The outputs of a cell tagged "nbval-ignore-output" are not compared.

Where GITHUB_ACTIONS is set, or with --github, failures are also printed as annotations
of GitHub, which point at the line in the file. All output then goes to standard output,
where GitHub does not take lines of cells for its commands.

After a cell with "%ranks 4", four processes run each of the following cells. If it
is started by torchrun, mpirun or srun, quern run is one of several ranks, and rank 0
writes -o. quern submit starts them on a cluster. With --log-notebook only rank 0 prints its
output, and then the executed notebook, compressed, where quern submit finds it.
`

// runOptions are the flags of quern run.
type runOptions struct {
	output     string // -o
	log        bool   // --log-notebook
	exclude    patterns
	timeout    duration
	limit      duration // --notebook-timeout
	retries    int
	keepGoing  bool
	parameters parameter.Set
	jobs       int
	update     bool // -w
	compare    bool
	order      bool // --check-order
	tolerance  compare.Tolerance
	junit      string
	github     bool
}

func runRun(ctx context.Context, args []string, std stdio) error {
	o := runOptions{github: os.Getenv("GITHUB_ACTIONS") == "true"}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&o.output, "o", "", "")
	flags.BoolVar(&o.log, "log-notebook", false, "")
	flags.Var(&o.timeout, "timeout", "")
	flags.Var(&o.parameters, "param", "")
	flags.IntVar(&o.jobs, "j", 1, "")
	flags.BoolVar(&o.update, "w", false, "")
	flags.BoolVar(&o.compare, "compare", false, "")
	flags.BoolVar(&o.order, "check-order", false, "")
	flags.Var(&o.exclude, "exclude", "")
	flags.Var(&o.limit, "notebook-timeout", "")
	flags.IntVar(&o.retries, "retries", 0, "")
	flags.BoolVar(&o.keepGoing, "keep-going", false, "")
	flags.Func("normalize", "", o.normalize)
	flags.Float64Var(&o.tolerance.Relative, "rtol", 0, "")
	flags.Float64Var(&o.tolerance.Absolute, "atol", 0, "")
	flags.StringVar(&o.junit, "junit", "", "")
	flags.BoolVar(&o.github, "github", o.github, "")
	arguments, err := parseNotebooks(flags, runUsage, args, std)
	if err != nil {
		return err
	}
	if o.github {
		return runFenced(std, func(std stdio) ([]*job, error) { return runNotebooks(ctx, arguments, o, std) })
	}
	_, err = runNotebooks(ctx, arguments, o, std)
	return err
}

// runNotebooks runs the notebooks of the arguments.
func runNotebooks(ctx context.Context, arguments []string, o runOptions, std stdio) ([]*job, error) {
	if o.log && !isFirst() {
		std.out = io.Discard // some launchers have one log for all ranks
	}
	paths, found, err := selectNotebooks(arguments, o.exclude, std)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	if found && o.output != "" { // what an earlier run has written
		paths = slices.DeleteFunc(paths, func(path string) bool { return within(path, o.output) })
	}
	outputs, err := o.check(paths, found)
	if err != nil {
		return nil, err
	}
	jobs := make([]*job, len(paths))
	for i, path := range paths {
		jobs[i] = newJob(path, o)
		if outputs != nil {
			jobs[i].output = outputs[i]
		}
	}
	if len(jobs) == 1 && !found {
		if o.retries == 0 {
			jobs[0].stdin = os.Stdin
		}
		err = jobs[0].run(ctx, o, std)
	} else {
		err = runAll(ctx, jobs, o, std)
	}
	if o.junit != "" && isFirst() {
		if failed := writeJUnit(o.junit, jobs); failed != nil {
			report(failed, std)
			if err == nil {
				err = errReported
			}
		}
	}
	return jobs, err
}

// within reports whether a file is in a folder or in one below it.
func within(path, folder string) bool {
	file, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(whole, file)
	return err == nil && filepath.IsLocal(relative)
}

// normalize adds the value of --normalize.
func (o *runOptions) normalize(value string) error {
	lines := []string{value}
	if name, isFile := strings.CutPrefix(value, "@"); isFile {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return fmt.Errorf("%s is not a file of patterns", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines = strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	}
	for _, line := range lines {
		if len(lines) > 1 && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		r, err := compare.ParseReplacement(line)
		if err != nil {
			return err
		}
		o.tolerance.Normalize = append(o.tolerance.Normalize, r)
	}
	return nil
}

// check reports flags that contradict each other, and what would fail only after cells have run for hours. It returns where
// the executed notebooks are written, or nil. found means that the paths are those of a folder or pattern.
func (o *runOptions) check(paths []string, found bool) (outputs []string, err error) {
	if err := o.checkFlags(); err != nil {
		return nil, err
	}
	if o.jobs == 0 {
		o.jobs = runtime.NumCPU()
	}
	if o.junit != "" {
		folder := filepath.Dir(o.junit)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return nil, fmt.Errorf("--junit: %w", err)
		}
		if err := mayWrite(folder); err != nil && isReplaced(o.junit) {
			return nil, fmt.Errorf("--junit: %w", err)
		}
	}
	if o.update {
		for _, path := range paths {
			if err := mayWrite(filepath.Dir(path)); err != nil {
				return nil, fmt.Errorf("-w: %w", err)
			}
		}
	}
	if o.output == "" {
		return nil, nil
	}
	if len(paths) == 1 && !found && !os.IsPathSeparator(o.output[len(o.output)-1]) {
		if err := mayWrite(filepath.Dir(o.output)); err != nil {
			return nil, fmt.Errorf("-o: %w", err)
		}
		if info, err := os.Stat(o.output); err == nil && info.IsDir() {
			return nil, fmt.Errorf("-o: %s is a directory; give a file name, such as %s", o.output, filepath.Join(o.output, filepath.Base(paths[0])))
		}
		return []string{o.output}, nil
	}
	if outputs, err = outputPaths(o.output, paths); err != nil {
		return nil, fmt.Errorf("-o: %w", err)
	}
	for _, path := range outputs {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, fmt.Errorf("-o: %w", err)
		}
		if err := mayWrite(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("-o: %w", err)
		}
	}
	return outputs, nil
}

// checkFlags reports flags that contradict each other.
func (o *runOptions) checkFlags() error {
	wrong := func(message, hint string) error { return &usageError{"run: " + message, hint} }
	place, alone := parallel.FromEnvironment(os.LookupEnv)
	switch {
	case o.timeout < 0 || o.limit < 0:
		return wrong("the timeout is negative", "quern run nb.ipynb --timeout 60s")
	case o.retries < 0:
		return wrong("--retries is negative", "quern run --retries 1 nb.ipynb")
	case o.log && (o.github || o.retries > 0):
		return wrong("--log-notebook does not work with --github and --retries", "--log-notebook is for one run on a cluster")
	case o.retries > 0 && alone == nil && place.Size > 1:
		return wrong("--retries does not work on several ranks", "the others would not run the notebook again")
	case o.jobs < 0:
		return wrong("-j is negative", "-j 0 runs as many notebooks at the same time as there are cores")
	case o.output == "-":
		return wrong("-o - is no file: the output of the cells goes to standard output", "quern run nb.ipynb -o done.ipynb")
	case o.tolerance.Relative < 0 || o.tolerance.Absolute < 0:
		return wrong("a tolerance is negative", "--rtol 1e-3 accepts numbers that differ by a thousandth")
	case !o.tolerance.IsZero() && !o.compare && !o.update:
		return wrong("--rtol, --atol and --normalize belong to --compare or -w", "quern run --compare --rtol 1e-3 nb.ipynb")
	case o.compare && o.update:
		return wrong("only one of --compare and -w is allowed", "run --compare first, and -w to accept what differs")
	case (o.compare || o.update) && len(o.parameters) > 0:
		return wrong("--compare and -w do not take --param", "the outputs in the file are those of its own values")
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
	if err == nil && !isGo(n) {
		return nil, nil, fmt.Errorf("%s is a notebook for %s, not for Go", path, n.Language())
	}
	return n, text, err
}

// isGo reports whether a notebook is for Go, or does not say what it is for.
func isGo(n *notebook.Notebook) bool { return n.Language() == "" || n.Language() == "go" }

// grace returns how long an interrupted cell has to end, or 0 for the default. On a cluster it may save a large training: Kubernetes and Slurm kill
// processes 30 seconds after SIGTERM.
func (o *runOptions) grace() time.Duration {
	place, err := parallel.FromEnvironment(os.LookupEnv)
	if o.log || err == nil && place.Size > 1 {
		return 25 * time.Second
	}
	return 0
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
