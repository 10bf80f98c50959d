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

// part is one of the things to do.
type part struct {
	name string
	run  func(ctx context.Context, o options, r *report, out io.Writer) error
	// skip says that it is not asked for; nil for never.
	skip func(o options) bool
	// most is the time that it may take on a GPU, so that a part that hangs leaves time
	// for the others; 0 for what there is.
	most time.Duration
	// bare parts use the device by other means than the engine.
	bare bool
	// hidden parts are run by others.
	hidden bool
}

// parts are all, the most telling first: the budget may end the rest.
var parts = []part{
	{name: "first", run: firstUse, bare: true, most: time.Minute},
	{name: "ops", run: checkOps, most: 3 * time.Minute},
	{name: "kernels", run: checkKernels, bare: true, most: 4 * time.Minute},
	{name: "bench", run: measure, most: 3 * time.Minute},
	{name: "products", run: measureProducts, most: 2 * time.Minute},
	{name: "profile", run: takeProfile, most: time.Minute},
	{name: "ranks", run: measureRanks, bare: true, most: 2 * time.Minute},
	{name: "rank", run: oneRank, bare: true, hidden: true},
	{name: "gpus", run: checkOthers, bare: true, most: 2 * time.Minute},
	{name: "sanitizer", run: sanitize, bare: true, most: 3 * time.Minute},
	{name: "torch", run: measureTorch, bare: true, skip: func(o options) bool { return o.python == "" }},
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

// runOne runs a part in this process.
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
	return fmt.Errorf("there is no part %q, there are %q", o.only, partNames())
}

// here runs a part in this process; what tensor maths panics with is its error.
func (p part) here(ctx context.Context, o options, r *report, out io.Writer) (err error) {
	defer nn.Catch(&err)
	if !p.bare {
		if err := tensor.Use(o.device); err != nil {
			return err
		}
	}
	return p.run(ctx, o, r, out)
}

// lateness is what a part that was told to end may take for it.
const lateness = 5 * time.Second

// apart runs a part in a process of its own, or in several where it ends in the
// middle, and takes over what they report.
func (r *report) apart(ctx context.Context, o options, p part, out io.Writer) {
	if p.most > 0 && !strings.HasPrefix(o.device, "simulated") {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, p.most)
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
		o.from = own.Next // behind what ended the process
	}
}

// unfinished enters the piece with which a process ended.
func (r *report) unfinished(p part, piece string, why error, out io.Writer) {
	if p.name == "ops" {
		r.add(checked{Op: piece, Error: why.Error()}, out)
	}
}

// once runs a part in one process, and gives what that has reported, nil for nothing.
// The error is of a process that did not come to its end.
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
	if err != nil { // it ended before it could report
		return nil, fmt.Errorf("%w: %s", errors.Join(failed, ctx.Err()), said)
	}
	if read.Running != "" {
		return &read, fmt.Errorf("%s: %w: %s", read.Running, errors.Join(failed, ctx.Err()), said)
	}
	return &read, nil
}

// process is this program for one part, whose report goes into a file, and the end of
// what it writes to its standard error.
func (o options) process(ctx context.Context, name, result string) (*exec.Cmd, *tail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{"-device", o.device, "-only", name, "-result", result, "-python", o.python, "-from", strconv.Itoa(o.from)}
	if o.patience > 0 {
		args = append(args, "-patience", o.patience.String())
	}
	if o.quick {
		args = append(args, "-quick")
	}
	if deadline, ok := ctx.Deadline(); ok { // time is left to report
		args = append(args, "-budget", max(time.Second, time.Until(deadline)-lateness).String())
	}
	command := exec.CommandContext(ctx, self, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = lateness
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
	const most = 600
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(b), nil
}

func (t *tail) String() string { return string(t.text) }
