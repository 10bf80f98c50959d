package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/batch"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/notebook/compare"
	"github.com/quernlab/quern/kernel/submit"
)

// A job is a notebook of quern run, and then how it went.
type job struct {
	path     string
	text     []byte                 // of the file
	notebook *notebook.Notebook     // empty if the file cannot be read
	places   map[*notebook.Cell]int // of the cells in the file; parameters are in a cell of their own
	stdin    io.Reader
	output   string // where the executed notebook is written; "" for nowhere

	took    time.Duration // of all attempts
	earlier []attempt     // that failed, before the last one
	attempt
}

// An attempt is how a run of a notebook went.
type attempt struct {
	err   error             // why it failed
	cells map[int]endedCell // by the index of the cell, from 1
}

// failedCell reports whether a cell failed.
func (a attempt) failedCell() bool {
	for _, c := range a.cells {
		if c.err != nil {
			return true
		}
	}
	return false
}

// endedCell is how a cell ended.
type endedCell struct {
	took time.Duration
	err  error
}

// newJob reads a notebook and sets its parameters. If that fails, the job fails when it runs: other notebooks run, and the
// report of the run says so.
func newJob(path string, o runOptions) *job {
	j := &job{path: path, notebook: &notebook.Notebook{}, places: map[*notebook.Cell]int{}, attempt: attempt{cells: map[int]endedCell{}}}
	n, text, err := readGoText(path)
	if err == nil {
		for i, c := range n.Cells {
			j.places[c] = i
		}
		err = o.parameters.Inject(n)
	}
	if err != nil {
		j.err = err
		return j
	}
	j.text, j.notebook = text, n
	return j
}

// run executes the notebook in its folder, and writes or compares it. If that fails, it tries again as often as o.retries
// says.
func (j *job) run(ctx context.Context, o runOptions, std stdio) error {
	if j.err != nil {
		return j.err
	}
	if j.output != "" || o.update {
		// If the reader of standard output exits, the file is still wanted.
		signal.Notify(make(chan os.Signal, 1), brokenPipe)
	}
	if o.order {
		if j.err = j.checkOrder(ctx); j.err != nil {
			return j.err
		}
	}
	begin := time.Now()
	for n := 1; ; n++ {
		j.err = j.once(ctx, o, std)
		if j.took = time.Since(begin); j.err == nil || n > o.retries || ctx.Err() != nil {
			return j.err
		}
		fmt.Fprintf(std.err, "quern: %s: attempt %d of %d failed: %v\n", j.path, n, o.retries+1, j.err)
		j.earlier = append(j.earlier, j.attempt)
		j.attempt = attempt{cells: map[int]endedCell{}}
	}
}

// once is one attempt of run.
func (j *job) once(ctx context.Context, o runOptions, std stdio) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the path of this program: %w", err)
	}
	folder, err := filepath.Abs(filepath.Dir(j.path))
	if err != nil {
		return err
	}
	err = batch.Run(ctx, j.notebook, batch.Config{
		WorkerCommand: []string{self, "worker", "--batch"},
		Folder:        folder,
		Stdout:        std.out,
		Stderr:        std.err,
		Color:         showsColors(std.err),
		Stdin:         j.stdin,
		Timeout:       time.Duration(o.timeout),
		Limit:         time.Duration(o.limit),
		KeepGoing:     o.keepGoing,
		Grace:         o.grace(),
		Ended: func(cell int, took time.Duration, err error) {
			j.cells[cell] = endedCell{j.cells[cell].took + took, err}
		},
		Logger: newLogger(std.err, slog.LevelError),
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx)) // which signal
	}
	if !isFirst() {
		return err
	}
	if j.output != "" {
		err = errors.Join(err, j.notebook.Write(j.output))
	}
	if o.log {
		text, failed := j.notebook.Encode()
		if failed == nil {
			failed = submit.WriteResult(std.out, text, err, ctx.Err() != nil)
		}
		err = errors.Join(err, failed)
	}
	switch {
	case err != nil: // outputs of a failed run are not compared, and do not replace others
		return err
	case o.update:
		return j.update(o.tolerance)
	case o.compare:
		return j.compare(o.tolerance)
	}
	return nil
}

// update writes the outputs that differ into the file, and an execution count for each cell that has outputs and none:
// tools such as nbval take outputs without one for those of another notebook.
func (j *job) update(t compare.Tolerance) error {
	old, err := notebook.Parse(j.text)
	if err != nil {
		return err
	}
	changed, counts := map[int][]notebook.Output{}, map[int]int{}
	numbers := j.notebook.Numbers()
	for i, c := range j.notebook.Cells {
		if c.Type != "code" {
			continue
		}
		if !compare.Same(old.Cells[i].Outputs, c.Outputs, t) {
			changed[i] = c.Outputs
		}
		if len(c.Outputs) > 0 && old.Cells[i].Count == 0 {
			counts[i] = numbers[i]
		}
	}
	if len(changed) == 0 && len(counts) == 0 {
		return nil
	}
	text, err := notebook.EditOutputs(j.text, changed)
	if err == nil {
		text, err = notebook.EditCounts(text, counts)
	}
	if err != nil {
		return err
	}
	return notebook.WriteText(j.path, text)
}

// differenceError reports a cell whose outputs differ from those in the file.
type differenceError struct {
	cell int // its number
	what string
}

func (e *differenceError) Error() string { return fmt.Sprintf("cell %d: %s", e.cell, e.what) }

// compare reports all cells whose outputs differ from those in the file.
func (j *job) compare(t compare.Tolerance) error {
	old, err := notebook.Parse(j.text)
	if err != nil {
		return err
	}
	var found []error
	numbers := j.notebook.Numbers()
	for i, c := range j.notebook.Cells {
		if c.Type != "code" || c.HasTag("nbval-ignore-output") || c.HasTag("skip-execution") {
			continue
		}
		if what := compare.Outputs(old.Cells[i].Outputs, c.Outputs, t); what != "" {
			err := &differenceError{numbers[i], "outputs differ in " + what}
			j.cells[i+1] = endedCell{j.cells[i+1].took, err}
			found = append(found, err)
		}
	}
	return errors.Join(found...)
}

// buffer is a buffer that several goroutines write to.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// runAll runs jobs, o.jobs at the same time. It prints a line for each one that ends, and the output of those that
// fail.
func runAll(ctx context.Context, jobs []*job, o runOptions, std stdio) error {
	var (
		workers sync.WaitGroup
		mu      sync.Mutex // for printing, and failed
		failed  error
	)
	next := make(chan *job)
	for range min(o.jobs, len(jobs)) {
		workers.Go(func() {
			for j := range next {
				var text buffer
				err := j.run(ctx, o, stdio{&text, &text})
				if b := text.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
					text.WriteByte('\n')
				}
				mu.Lock()
				if err != nil {
					failed = errReported
					fmt.Fprintf(std.out, "%sFAIL  %s  %.1fs\n", text.String(), j.path, j.took.Seconds())
					fmt.Fprintf(std.err, "quern: %s: %v\n", j.path, err)
				} else {
					flaky := ""
					if len(j.earlier) > 0 {
						flaky = fmt.Sprintf("  flaky: attempt %d succeeded", len(j.earlier)+1)
						fmt.Fprint(std.out, text.String())
					}
					fmt.Fprintf(std.out, "ok    %s  %.1fs%s\n", j.path, j.took.Seconds(), flaky)
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			j.err = fmt.Errorf("not run: %w", ctx.Err())
			mu.Lock()
			failed = errReported
			fmt.Fprintf(std.err, "quern: %s: %v\n", j.path, j.err)
			mu.Unlock()
			continue
		}
		next <- j
	}
	close(next)
	workers.Wait()
	return failed
}
