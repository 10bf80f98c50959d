package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/kernel/batch"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/notebook/parameter"
)

const runUsage = `quern run executes a notebook without Python and without a browser.

  quern run nb.ipynb                     print the output of the cells
  quern run nb.ipynb -o done.ipynb       and write the executed notebook
  quern run nb.ipynb --timeout 60s       interrupt a cell that runs longer
  quern run nb.ipynb --param x=3         set x after the cell tagged "parameters"

The value of a parameter is a Go literal (3, 0.5, true, "text", []int{1, 2}) with
the type of the variable in the cell, or any other text, which is taken as a
string. It is data and is never executed. Without a cell tagged "parameters", it is
defined before the first cell. Cells run in the notebook's folder. At the first
cell that fails, quern run stops, reports the cell and its error, and exits with
status 1; -o is still written. A cell tagged "raises-exception" may fail, a cell
tagged "skip-execution" does not run.

After a cell with "%ranks 4", four processes run each of the following cells. If it
is started by torchrun, mpirun or srun, quern run is one of several ranks, and rank 0
writes -o.
`

func runRun(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	output := flags.String("o", "", "")
	var limit duration
	flags.Var(&limit, "timeout", "")
	var parameters parameter.Set
	flags.Var(&parameters, "param", "")
	path, err := parseNotebook(flags, runUsage, args, std)
	switch {
	case err != nil:
		return err
	case limit < 0:
		return &usageError{"run: the timeout is negative", "quern run nb.ipynb --timeout 60s"}
	}
	n, err := readGo(path)
	if err != nil {
		return err
	}
	if err := parameters.Inject(n); err != nil {
		return err
	}
	return execute(ctx, n, path, *output, time.Duration(limit), std)
}

// parseNotebook parses the flags of a command and the path of its notebook, which may be
// the first or the last argument.
func parseNotebook(flags *flag.FlagSet, usage string, args []string, std stdio) (path string, err error) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		path, args = args[0], args[1:]
	} else if n := len(args); n > 0 && strings.HasSuffix(args[n-1], ".ipynb") && (n == 1 || args[n-2] != "-o") {
		path, args = args[n-1], args[:n-1]
	}
	if err := parse(flags, usage, args, std); err != nil {
		return "", err
	}
	if path == "" {
		return "", &usageError{flags.Name() + ": the notebook is missing", fmt.Sprintf("quern %s nb.ipynb; quern %s -h describes the flags", flags.Name(), flags.Name())}
	}
	return path, nil
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

// execute runs the notebook in its folder and writes it.
func execute(ctx context.Context, n *notebook.Notebook, path, output string, timeout time.Duration, std stdio) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the path of this program: %w", err)
	}
	if output != "" {
		if output, err = filepath.Abs(output); err != nil {
			return err
		}
		// Check it now, not after the cells have run for hours.
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
		if info, err := os.Stat(output); err == nil && info.IsDir() {
			return fmt.Errorf("-o: %s is a directory; give a file name, such as %s", output, filepath.Join(output, filepath.Base(path)))
		}
		// If the reader of standard output exits, the file is still wanted.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	if err := os.Chdir(filepath.Dir(path)); err != nil {
		return err
	}
	err = batch.Run(ctx, n, batch.Config{
		WorkerCommand: []string{self, "worker"},
		Stdout:        std.out,
		Stderr:        std.err,
		Color:         showsColors(std.err),
		Stdin:         os.Stdin,
		Timeout:       timeout,
		Logger:        newLogger(std.err, slog.LevelError),
	})
	if output != "" && isFirst() {
		err = errors.Join(err, n.Write(output))
	}
	return err
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
