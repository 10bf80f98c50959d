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

// kernelProgram is in the same folder as this program: the tests of package kernels, which
// elsewhere run in the simulator. On a GPU, a test also fails if it writes beyond one of its
// buffers.
const kernelProgram = "gpu-check-kernels"

// program returns the path of a program in the folder of the programs, by default that of this one.
func (o options) program(name string) (string, error) {
	folder := o.programs
	if folder == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		folder = filepath.Dir(self)
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		return "", &missingError{path + " is missing: make gpu-archive builds it beside this program"}
	}
	return path, nil
}

// kernelEnvironment returns the environment in which the kernel program runs on the device.
func (o options) kernelEnvironment() []string {
	number := "0"
	if _, n, ok := strings.Cut(o.device, ":"); ok {
		number = n
	}
	if o.simulated() {
		number = "fake"
	}
	return append(os.Environ(), "QUERN_KERNELS_DEVICE="+number)
}

// tested is the result of one kernel test.
type tested struct {
	Test   string `json:"test"`
	Result string `json:"result"` // PASS, FAIL or SKIP
	Words  string `json:"words,omitempty"`
}

func checkKernels(ctx context.Context, o options, r *report, out io.Writer) error {
	program, err := o.program(kernelProgram)
	if err != nil {
		return err
	}
	names, err := testNames(ctx, program, o.quick)
	if err != nil {
		return err
	}
	for len(names) > 0 && ctx.Err() == nil {
		left, err := r.runTests(ctx, o, program, names, out)
		if err != nil {
			return err
		}
		names = left
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%d tests were not run: %w", len(names), ctx.Err())
	}
	return nil
}

// Tests that do not run on a GPU, and the tests that -quick runs.
var (
	elsewhere   = regexp.MustCompile(`^Test(Assemble|Built|Load|Regenerate|Waiting)`)
	quickTests  = regexp.MustCompile(`^Test(Sum|Softmax|Gather|Faults|IndexValue|CrossEntropy|Hopper)`)
	testPattern = regexp.MustCompile(`^Test\w+$`)
)

// testNames lists the tests of the program in its order.
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

// runTests runs tests in one process. If the process ends early, it returns the tests that
// remain: a kernel with an invalid memory access makes the GPU unusable for its process, and a
// process without output for the time limit is ended because its kernel may never return.
func (r *report) runTests(ctx context.Context, o options, program string, names []string, out io.Writer) (left []string, err error) {
	pieceLimit := o.pieceLimitOf()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	command := exec.CommandContext(ctx, program, "-test.v", "-test.short", "-test.parallel", "1", "-test.run", "^("+strings.Join(names, "|")+")$")
	command.WaitDelay = gracePeriod
	command.Env = o.kernelEnvironment()
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
	watch := time.AfterFunc(pieceLimit, func() {
		silent.Store(true)
		cancel()
	})
	defer watch.Stop()
	running, finished := r.readTests(bufio.NewScanner(lines), func() { watch.Reset(pieceLimit) }, out)
	ended := command.Wait()
	left = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return finished[name] })
	top, _, _ := strings.Cut(running, "/")
	if len(left) == 0 || top == "" && ended == nil {
		return nil, nil
	}
	words := errors.Join(ended, errors.New(said.String()))
	if silent.Load() {
		words = fmt.Errorf("no output for %v: a kernel may never return", pieceLimit)
	}
	if top == "" { // no test was running
		return nil, words
	}
	if ctx.Err() != nil && !silent.Load() {
		return left, nil // no time is left
	}
	r.addTest(tested{Test: running, Result: "FAIL", Words: words.Error()}, out)
	return slices.DeleteFunc(left, func(name string) bool { return name == top }), nil
}

// readTests reads the output of go test -v. It records the innermost tests with their results
// and messages. It returns the test that started but has no result, and the top-level tests
// that have one. It calls received for each line.
func (r *report) readTests(in *bufio.Scanner, received func(), out io.Writer) (running string, finished map[string]bool) {
	in.Buffer(nil, 1<<24)
	words, finished := map[string][]string{}, map[string]bool{}
	var all []tested
	for in.Scan() {
		received()
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

// outer returns the test that contains a subtest; ok is false for a top-level test.
func outer(name string) (whole string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], i >= 0
}

func (r *report) addTest(t tested, out io.Writer) {
	if t.Result == "FAIL" {
		r.wrong()
		fmt.Fprintf(out, "WRONG %s: %s\n", t.Test, t.Words)
	}
	r.Kernels = append(r.Kernels, t)
}
