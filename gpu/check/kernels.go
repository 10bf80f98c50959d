package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kernelProgram is beside this one: the tests of package kernels, which run in the
// simulator everywhere else. On a GPU a test is wrong too if it writes behind a piece
// of its memory.
const kernelProgram = "gpu-check-kernels"

// tested is a test of kernels.
type tested struct {
	Test   string `json:"test"`
	Result string `json:"result"` // PASS, FAIL or SKIP
	Words  string `json:"words,omitempty"`
}

func checkKernels(ctx context.Context, o options, r *report, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program := filepath.Join(filepath.Dir(self), kernelProgram)
	if given := os.Getenv("QUERN_KERNELS"); given != "" {
		program = given
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%s is missing, which make gpu-check builds beside this program", program)
	}
	number := "0"
	if _, n, ok := strings.Cut(o.device, ":"); ok {
		number = n
	}
	if strings.HasPrefix(o.device, "simulated") {
		number = "fake"
	}
	args := []string{"-test.v", "-test.short", "-test.skip", "Assemble|Regenerate"}
	if o.quick {
		args = append(args, "-test.run", "^Test(Sum|Softmax|Gather|Faults|IndexValue|CrossEntropy|Hopper)")
	}
	fmt.Fprintf(out, "\nthe tests of the kernels, which pass in the simulator\n")
	command := exec.CommandContext(ctx, program, args...)
	command.WaitDelay = lateness
	command.Env = append(os.Environ(), "QUERN_KERNELS_DEVICE="+number)
	var said tail
	command.Stderr = &said
	lines, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	r.readTests(bufio.NewScanner(lines), out)
	ended := command.Wait()
	fmt.Fprintf(out, "%d of %d are right, %d were not for this GPU\n", len(r.Kernels)-r.KernelsWrong-r.KernelsSkipped, len(r.Kernels), r.KernelsSkipped)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("not all were run: %w", ctx.Err())
	case ended != nil && r.KernelsWrong == 0:
		return errors.Join(ended, errors.New(said.String()))
	}
	return nil
}

// readTests reads what go test -v prints: the innermost tests with their results, and
// what they say before.
func (r *report) readTests(in *bufio.Scanner, out io.Writer) {
	words := map[string][]string{}
	running := ""
	var all []tested
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		if name, ok := strings.CutPrefix(line, "=== RUN "); ok {
			running = strings.TrimSpace(name)
			continue
		}
		result, rest, ok := strings.Cut(strings.TrimPrefix(line, "--- "), ": ")
		if !ok || !strings.HasPrefix(line, "--- ") {
			if running != "" && line != "" && !strings.HasPrefix(line, "===") {
				words[running] = append(words[running], line)
			}
			continue
		}
		name, _, _ := strings.Cut(rest, " (")
		all = append(all, tested{Test: name, Result: result, Words: strings.Join(words[name], "; ")})
	}
	for _, t := range all {
		if slices.ContainsFunc(all, func(within tested) bool { return strings.HasPrefix(within.Test, t.Test+"/") }) {
			continue
		}
		switch t.Result {
		case "FAIL":
			r.KernelsWrong++
			fmt.Fprintf(out, "WRONG %s: %s\n", t.Test, t.Words)
		case "SKIP":
			r.KernelsSkipped++
		}
		r.Kernels = append(r.Kernels, t)
	}
}
