package main

import (
	"bufio"
	"context"
	"encoding/json"
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

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
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

// loaded is a kernel as the driver has compiled it; the test TestLoad of the kernels prints it.
type loaded struct {
	Module       string  `json:"module"`
	Kernel       string  `json:"kernel"`
	Milliseconds float64 `json:"milliseconds,omitempty"` // to load the module, with its first kernel
	Registers    int     `json:"registers"`
	Local        int     `json:"local,omitempty"`   // bytes of spills and arrays
	Shared       int     `json:"shared,omitempty"`  // static bytes
	Threads      int     `json:"threads,omitempty"` // of a block at most
	Blocks       int     `json:"blocks"`            // on an SM, with that many threads
	Error        string  `json:"error,omitempty"`
}

// loadedPrefix begins the lines of TestLoad.
const loadedPrefix = "loaded: "

// firstUse measures the time to the first result: opening the device and loading the kernels of
// one op.
func firstUse(o options) (seconds float64, err error) {
	defer nn.Catch(&err)
	began := time.Now()
	if err := tensors.SetDevice(o.device); err != nil {
		return 0, err
	}
	tensor.Ones(4).AddScalar(1).Data()
	return time.Since(began).Seconds(), nil
}

// loadKernels measures the first use, and loads all kernels.
func loadKernels(ctx context.Context, o options, r *report, out io.Writer) error {
	var firstErr error
	if r.FirstUse, firstErr = firstUse(o); firstErr == nil {
		fmt.Fprintf(out, "first use  %.2f s\n", r.FirstUse)
	}
	program, err := o.program(kernelProgram)
	if err != nil {
		return errors.Join(firstErr, err)
	}
	pattern := "^TestLoad$"
	command, said := external(ctx, program, "-test.v", "-test.count", "1", "-test.run", pattern)
	if o.quick {
		command.Args = append(command.Args, "-test.short")
	}
	command.Env = o.kernelEnvironment()
	text, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		_, line, ok := strings.Cut(lines.Text(), loadedPrefix)
		var l loaded
		if !ok {
			continue
		}
		if e := json.Unmarshal([]byte(line), &l); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", line, e))
			continue
		}
		r.Loaded = append(r.Loaded, l)
		if l.Error != "" {
			err = errors.Join(err, fmt.Errorf("%s %s: %s", l.Module, l.Kernel, l.Error))
		}
	}
	if len(r.Loaded) == 0 && err == nil {
		err = fmt.Errorf("no kernels were loaded: %s", said)
	}
	fmt.Fprintln(out, loadedSummary(r.Loaded))
	return errors.Join(firstErr, err)
}

// loadedSummary describes the kernels in a line.
func loadedSummary(all []loaded) string {
	modules, seconds, spills, slowest := map[string]bool{}, 0.0, 0, loaded{}
	for _, l := range all {
		modules[l.Module] = true
		seconds += l.Milliseconds / 1e3
		if l.Local > 0 {
			spills++
		}
		if l.Milliseconds > slowest.Milliseconds {
			slowest = l
		}
	}
	return fmt.Sprintf("%d kernels of %d modules in %.1f s, the slowest %s with %.0f ms; %d use local memory", len(all), len(modules), seconds, slowest.Module, slowest.Milliseconds, spills)
}

// cubins is what the test TestLoadCubins of the kernels prints: how long modules take to load as PTX, which the driver compiles,
// and as machine code, which ptxas has assembled.
type cubins struct {
	Missing   string  `json:"missing,omitempty"` // why there is no ptxas
	Assembler string  `json:"assembler"`         // path of ptxas
	Assembled int     `json:"assembled"`         // modules
	Seconds   float64 `json:"seconds"`           // to assemble them, several at once
	Modules   []struct {
		Module   string  `json:"module"`
		Compiled float64 `json:"compiled"` // milliseconds to load its PTX
		Loaded   float64 `json:"loaded"`   // milliseconds to load its machine code
	} `json:"modules"`
}

// String describes the modules in a line.
func (c *cubins) String() string {
	compiled, loaded := 0.0, 0.0
	for _, m := range c.Modules {
		compiled += m.Compiled
		loaded += m.Loaded
	}
	return fmt.Sprintf("%d modules: the driver takes %.3g ms for their PTX and %.3g ms for their machine code; %s assembled all %d modules in %.1f s", len(c.Modules), compiled, loaded, c.Assembler, c.Assembled, c.Seconds)
}

// loadCubins measures the load times. The machine code stays in the cache, where the variant cubin=on finds it.
func loadCubins(ctx context.Context, o options, r *report, out io.Writer) error {
	program, err := o.program(kernelProgram)
	if err != nil {
		return err
	}
	command, said := external(ctx, program, "-test.v", "-test.count", "1", "-test.run", "^TestLoadCubins$", "-test.short")
	command.Env = append(o.kernelEnvironment(), "CUDA_CACHE_DISABLE=1") // or the driver would not compile what it has compiled before
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("%w: %s %s", err, said, shorten(string(text)))
	}
	_, line, ok := strings.Cut(string(text), "cubins: ")
	if !ok {
		return fmt.Errorf("no modules were loaded: %s", shorten(string(text)))
	}
	c := &cubins{}
	if err := json.NewDecoder(strings.NewReader(line)).Decode(c); err != nil {
		return fmt.Errorf("%s: %w", shorten(line), err)
	}
	if c.Missing != "" {
		return &missingError{c.Missing}
	}
	r.Cubins = c
	fmt.Fprintln(out, c)
	return nil
}
