package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/nn"
	_ "github.com/quernlab/quern/accel/simulated" // for -device simulated
	"github.com/quernlab/quern/accel/tensor"
)

// part is one part of the check.
type part struct {
	name string
	run  func(ctx context.Context, o options, r *report, out io.Writer) error
	// limit is the time that the part may take on a GPU, so that a part that hangs leaves time
	// for the others; 0: the whole budget.
	limit time.Duration
	// bare parts do not use the device through package tensor in this process.
	bare bool
	// hidden parts are started by other parts.
	hidden bool
}

// parts lists all parts, the most important first, because the budget may end before the last:
// those that check results, then the benchmarks, and the slow tools of the sanitizer.
var parts = []part{
	{name: "first", run: firstUse, bare: true, limit: time.Minute},
	{name: "ops", run: checkOps, limit: 3 * time.Minute},
	{name: "kernels", run: checkKernels, bare: true, limit: 4 * time.Minute},
	{name: "profile", run: takeProfile, limit: time.Minute},
	{name: "ranks", run: measureRanks, bare: true, limit: 2 * time.Minute},
	{name: "rank", run: oneRank, bare: true, hidden: true},
	{name: "gpus", run: checkOthers, bare: true, limit: 2 * time.Minute},
	{name: "bench", run: runBench, bare: true},
	{name: "sanitizer", run: sanitize, bare: true, limit: 3 * time.Minute},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		if !p.hidden {
			names = append(names, p.name)
		}
	}
	return names
}

// runOne runs one part in this process.
func runOne(ctx context.Context, o options, r *report, out io.Writer) error {
	for _, p := range parts {
		if p.name != o.only {
			continue
		}
		if o.result == "" {
			r.describe(o.device)
		}
		err := p.here(ctx, o, r, out)
		if err != nil {
			r.Problems = append(r.Problems, p.name+": "+err.Error())
		}
		if o.result != "" {
			return errors.Join(err, r.write(o.result))
		}
		path, saved := r.save(o.out)
		if saved == nil {
			fmt.Fprintf(out, "\nwritten to %s\n", path)
		}
		if err == nil && r.Wrong+r.KernelsWrong > 0 {
			err = errWrong
		}
		return errors.Join(err, saved)
	}
	return fmt.Errorf("unknown part %q, the parts are %q", o.only, partNames())
}

// here runs a part in this process. It returns panics of package tensor as errors.
func (p part) here(ctx context.Context, o options, r *report, out io.Writer) (err error) {
	defer nn.Catch(&err)
	if !p.bare {
		if err := tensor.SetDevice(o.device); err != nil {
			return err
		}
	}
	return p.run(ctx, o, r, out)
}

// gracePeriod is the time that a part has to end after an interrupt.
const gracePeriod = 5 * time.Second

// apart runs a part in its own process, or in several if they end early, and merges their
// reports.
func (r *report) apart(ctx context.Context, o options, p part, out io.Writer) {
	if p.limit > 0 && !strings.HasPrefix(o.device, "simulated") {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, p.limit)
		defer cancel()
	}
	for {
		own, err := once(ctx, o, p, out)
		if err != nil {
			r.problem(out, "%s: %v", p.name, err)
		}
		if own == nil {
			return
		}
		r.take(*own)
		for _, words := range own.Problems {
			fmt.Fprintf(out, "note: %s\n", words)
		}
		if err != nil && own.Running != "" {
			r.unfinished(p, own.Running, err, out)
		}
		if own.Next <= o.from || ctx.Err() != nil {
			return
		}
		o.from = own.Next // after the piece that ended the process
	}
}

// unfinished records the piece with which a process ended.
func (r *report) unfinished(p part, piece string, why error, out io.Writer) {
	if p.name == "ops" {
		r.add(checked{Op: piece, Error: why.Error()}, out)
	}
}

// once runs a part in one process and returns its report, or nil if there is none. It returns
// an error if the process did not complete.
func once(ctx context.Context, o options, p part, out io.Writer) (own *report, err error) {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	result := filepath.Join(folder, "part.json")
	command, said, err := o.process(ctx, p.name, result)
	if err != nil {
		return nil, err
	}
	command.Stdout = out
	failed := command.Run()
	read, err := readReport(result)
	if err != nil { // it ended before it wrote a report
		return nil, fmt.Errorf("%w: %s", errors.Join(failed, ctx.Err()), said)
	}
	if read.Running != "" {
		return &read, fmt.Errorf("%s: %w: %s", read.Running, errors.Join(failed, ctx.Err()), said)
	}
	return &read, nil
}

// process returns the command that runs this program for one part and writes its report to a
// file, and the end of its standard error.
func (o options) process(ctx context.Context, name, result string) (*exec.Cmd, *tail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{"-device", o.device, "-only", name, "-result", result, "-python", o.python, "-out", o.out, "-programs", o.programs, "-from", strconv.Itoa(o.from)}
	if o.pieceLimit > 0 {
		args = append(args, "-patience", o.pieceLimit.String())
	}
	if o.quick {
		args = append(args, "-quick")
	}
	if deadline, ok := ctx.Deadline(); ok { // leave time for the report
		args = append(args, "-budget", max(time.Second, time.Until(deadline)-gracePeriod).String())
	}
	command := exec.CommandContext(ctx, self, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = gracePeriod
	said := &tail{}
	command.Stderr = said
	return command, said, nil
}

func readReport(path string) (own report, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return own, err
	}
	return own, json.Unmarshal(text, &own)
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	const limit = 600
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-limit):]
	return len(b), nil
}

func (t *tail) String() string { return string(t.text) }
