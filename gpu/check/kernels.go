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
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
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
	names, err := testNames(ctx, program, o.quick)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nthe tests of the kernels, which pass in the simulator\n")
	for len(names) > 0 && ctx.Err() == nil {
		left, err := r.runTests(ctx, program, number, names, o.patienceOf(), out)
		if err != nil {
			return err
		}
		names = left
	}
	fmt.Fprintf(out, "%d of %d are right, %d were not for this GPU\n", len(r.Kernels)-r.KernelsWrong-r.KernelsSkipped, len(r.Kernels), r.KernelsSkipped)
	if ctx.Err() != nil {
		return fmt.Errorf("not all were run, %d are left: %w", len(names), ctx.Err())
	}
	return nil
}

// Tests of what is not done on a GPU, and those that are enough to try this program.
var (
	elsewhere   = regexp.MustCompile(`Assemble|Regenerate`)
	quickTests  = regexp.MustCompile(`^Test(Sum|Softmax|Gather|Faults|IndexValue|CrossEntropy|Hopper)`)
	testPattern = regexp.MustCompile(`^Test\w+$`)
)

// testNames are the tests of the program, in its order.
func testNames(ctx context.Context, program string, quick bool) (names []string, err error) {
	text, err := exec.CommandContext(ctx, program, "-test.list", ".").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of the kernels: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSpace(line)
		if testPattern.MatchString(name) && !elsewhere.MatchString(name) && (!quick || quickTests.MatchString(name)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no tests", program)
	}
	return names, nil
}

// runTests runs tests in one process, and gives those that are left where it ends in
// the middle: a kernel that reads what is not its own takes the GPU from the process,
// and one that waits for ever is ended when nothing was heard for a while.
func (r *report) runTests(ctx context.Context, program, number string, names []string, patience time.Duration, out io.Writer) (left []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	command := exec.CommandContext(ctx, program, "-test.v", "-test.short", "-test.parallel", "1", "-test.run", "^("+strings.Join(names, "|")+")$")
	command.WaitDelay = lateness
	command.Env = append(os.Environ(), "QUERN_KERNELS_DEVICE="+number)
	var said tail
	command.Stderr = &said
	lines, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	silent := atomic.Bool{}
	watch := time.AfterFunc(patience, func() {
		silent.Store(true)
		cancel()
	})
	defer watch.Stop()
	running, finished := r.readTests(bufio.NewScanner(lines), func() { watch.Reset(patience) }, out)
	ended := command.Wait()
	left = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return finished[name] })
	top, _, _ := strings.Cut(running, "/")
	if len(left) == 0 || top == "" && ended == nil {
		return nil, nil
	}
	words := errors.Join(ended, errors.New(said.String()))
	if silent.Load() {
		words = fmt.Errorf("nothing was heard in %v, the GPU may wait for ever", patience)
	}
	if top == "" { // it did not come to a test
		return nil, words
	}
	if ctx.Err() != nil && !silent.Load() {
		return left, nil // there is no more time
	}
	r.addTest(tested{Test: running, Result: "FAIL", Words: words.Error()}, out)
	return slices.DeleteFunc(left, func(name string) bool { return name == top }), nil
}

// readTests reads what go test -v prints: the innermost tests with their results, and
// what they say before. It gives the test that was begun and has no result, and which
// of the outermost have one; heard is called for each line.
func (r *report) readTests(in *bufio.Scanner, heard func(), out io.Writer) (running string, finished map[string]bool) {
	in.Buffer(nil, 1<<24)
	words, finished := map[string][]string{}, map[string]bool{}
	var all []tested
	for in.Scan() {
		heard()
		line := strings.TrimSpace(in.Text())
		if kind, name, ok := strings.Cut(strings.TrimPrefix(line, "=== "), " "); ok && strings.HasPrefix(line, "=== ") {
			if kind != "PAUSE" {
				running = strings.TrimSpace(name)
			}
			continue
		}
		result, rest, ok := strings.Cut(strings.TrimPrefix(line, "--- "), ": ")
		if !ok || !strings.HasPrefix(line, "--- ") {
			if running != "" && line != "" {
				words[running] = append(words[running], line)
			}
			continue
		}
		name, _, _ := strings.Cut(rest, " (")
		all = append(all, tested{Test: name, Result: result, Words: strings.Join(words[name], "; ")})
		if finished[name] = true; name == running {
			running, _ = outer(name)
		}
	}
	for _, t := range all {
		if !slices.ContainsFunc(all, func(within tested) bool { return strings.HasPrefix(within.Test, t.Test+"/") }) {
			r.addTest(t, out)
		}
	}
	if finished[running] {
		running = ""
	}
	return running, finished
}

// outer is the test that a test is part of; ok is false for an outermost one.
func outer(name string) (whole string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], i >= 0
}

func (r *report) addTest(t tested, out io.Writer) {
	switch t.Result {
	case "FAIL":
		r.KernelsWrong++
		fmt.Fprintf(out, "WRONG %s: %s\n", t.Test, t.Words)
	case "SKIP":
		r.KernelsSkipped++
	}
	r.Kernels = append(r.Kernels, t)
}
