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
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// part is one of the things to do.
type part struct {
	name string
	run  func(ctx context.Context, o options, r *report, out io.Writer) error
	// skip says that it is not asked for; nil for never.
	skip func(o options) bool
	// bare parts use the device by other means than the engine.
	bare bool
	// hidden parts are run by others.
	hidden bool
}

// parts are all, the most telling first: the budget may end the rest.
var parts = []part{
	{name: "first", run: firstUse, bare: true},
	{name: "ops", run: checkOps},
	{name: "kernels", run: checkKernels, bare: true},
	{name: "bench", run: measure},
	{name: "products", run: measureProducts},
	{name: "profile", run: takeProfile},
	{name: "ranks", run: measureRanks},
	{name: "rank", run: oneRank, bare: true, hidden: true},
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

// apart runs a part in a process of its own, and takes over what it reports.
func (r *report) apart(ctx context.Context, o options, p part, out io.Writer) {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		r.problem(out, "%s: %v", p.name, err)
		return
	}
	defer os.RemoveAll(folder)
	result := filepath.Join(folder, "part.json")
	self, err := os.Executable()
	if err != nil {
		r.problem(out, "%s: %v", p.name, err)
		return
	}
	args := []string{"-device", o.device, "-only", p.name, "-result", result, "-python", o.python}
	if o.quick {
		args = append(args, "-quick")
	}
	if deadline, ok := ctx.Deadline(); ok { // time is left to report
		args = append(args, "-budget", max(time.Second, time.Until(deadline)-lateness).String())
	}
	command := exec.CommandContext(ctx, self, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = lateness
	command.Stdout = out
	var said tail
	command.Stderr = &said
	failed := command.Run()
	own, err := readReport(result)
	if err != nil { // it ended before it could report
		r.problem(out, "%s: %v: %s", p.name, errors.Join(failed, ctx.Err()), said.String())
		return
	}
	r.take(own)
	for _, words := range own.Problems {
		fmt.Fprintf(out, "note: %s\n", words)
	}
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
