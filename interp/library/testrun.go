package library

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/rt"
)

// A testRun is a run of tests by package testing, which also prints what fails.
type testRun struct {
	match      func(pattern, text string) (bool, error)
	flags      map[string]string // without those that have their default
	tests      []testing.InternalTest
	benchmarks []testing.InternalBenchmark
	fuzz       []testing.InternalFuzzTarget
	examples   []testing.InternalExample
	testMain   func(*testing.M) // nil if there is none

	status  int         // the exit status that the test program would have
	exited  atomic.Bool // the tests have called os.Exit while they ran
	ran     atomic.Bool // package testing has returned
	invalid error       // of a pattern

	mu    sync.Mutex
	rows  map[testing.TB]*testRow
	order []*testRow
}

// A testRow is a row of the table that %test prints.
type testRow struct {
	name, result string
	began        time.Time
	took         time.Duration
	benchmark    string // its measurement
	example      bool
	hasParts     bool // it is a benchmark that has called Run
}

// begin adds the row of a test.
func (r *testRun) begin(tb testing.TB) {
	r.mu.Lock()
	row := r.rows[tb]
	if row != nil { // a benchmark with another b.N
		r.mu.Unlock()
		return
	}
	row = &testRow{name: tb.Name(), result: "did not end", began: time.Now()}
	r.order = append(r.order, row)
	if r.rows == nil {
		r.rows = map[testing.TB]*testRow{}
	}
	r.rows[tb] = row
	r.mu.Unlock()
	if _, ok := tb.(*testing.B); ok {
		return // it ends several times
	}
	// Package testing calls the first of these functions last, when the subtests have ended too.
	tb.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		row.took += time.Since(row.began)
		row.result = resultOf(tb)
	})
}

// resumed records that a parallel test runs again after it has waited for the others.
func (r *testRun) resumed(tb testing.TB) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row := r.rows[tb]; row != nil {
		row.began = time.Now()
	}
}

// measured records one measurement of a benchmark; that of a benchmark with others in it means nothing.
func (r *testRun) measured(b *testing.B) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.rows[b]
	if row == nil {
		return
	}
	row.took, row.result = time.Since(row.began), resultOf(b)
	if !row.hasParts && !b.Failed() && b.N > 0 {
		row.benchmark = perOperation(float64(b.Elapsed()) / float64(b.N))
	}
}

// hasParts records that a benchmark has others in it.
func (r *testRun) hasParts(b *testing.B) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row := r.rows[b]; row != nil {
		row.hasParts = true
	}
}

// perOperation formats the time of one operation, in nanoseconds.
func perOperation(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.3g ns/op", ns)
	}
	return magic.Duration(time.Duration(ns)) + "/op"
}

func resultOf(tb testing.TB) string {
	switch {
	case tb.Failed():
		return "FAIL"
	case tb.Skipped():
		return "skipped"
	}
	return "ok"
}

// example returns the function of an example, which adds a row. A panic is a part of its output, and so fails it.
func (r *testRun) example(t *tests, name string, f func()) func() {
	return func() {
		if t.isStopped() {
			return
		}
		row := &testRow{name: name, example: true, result: "FAIL", began: time.Now()}
		r.mu.Lock()
		r.order = append(r.order, row)
		r.mu.Unlock()
		returned := false
		defer func() {
			if v := recover(); v != nil {
				fmt.Fprintln(t.output.Stderr(), t.describe(v))
				fmt.Fprintf(os.Stdout, "panic: %v\n", fmt.Sprint(rt.Recovered(v)))
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			row.took = time.Since(row.began)
			if returned {
				row.result = "ok"
			}
		}()
		f()
		returned = true
	}
}

// failed returns the names of the tests that have failed, without those that only have a failed subtest.
func (r *testRun) failed() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.order {
		if row.result == "ok" || row.result == "skipped" {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(row.name, name+"/") })
		names = append(names, row.name)
	}
	return names
}

// failure returns the error of the cell; nil if all tests have succeeded.
func (r *testRun) failure() error {
	names := r.failed()
	switch {
	case r.invalid != nil:
		return r.invalid
	case r.exited.Load():
		return fmt.Errorf("a test has called os.Exit(%d)", r.status)
	case len(names) == 1:
		return fmt.Errorf("%s failed", names[0])
	case len(names) > 1:
		return fmt.Errorf("%d tests failed: %s", len(names), strings.Join(names, ", "))
	case r.status != 0:
		return fmt.Errorf("the tests ended with exit status %d", r.status)
	case !r.ran.Load():
		return errors.New("TestMain has not called Run")
	}
	return nil
}

// table writes the tests with their results and durations.
func (r *testRun) table(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range r.order {
		fmt.Fprintf(t, "%s\t%s\t%s", row.name, row.result, magic.Duration(row.took))
		if row.benchmark != "" {
			fmt.Fprintf(t, "\t%s", row.benchmark)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// RunTests runs tests for %test, and prints a table of their results. The error names those that failed.
func (l *Library) RunTests(ctx context.Context, request magic.TestRun) error {
	t := l.tests
	run := &testRun{match: regexp.MatchString, flags: map[string]string{}}
	for name, value := range request.Flags {
		run.flags[name] = value
	}
	if run.flags["test.bench"] == "" {
		run.flags["test.bench"] = run.flags["test.run"]
	}
	if run.flags["test.bench"] == "" {
		run.flags["test.bench"] = "."
	}
	var names []string
	for _, test := range request.Tests {
		if err := t.add(run, test); err != nil {
			return err
		}
		if test.Name != "TestMain" {
			names = append(names, test.Name)
		}
	}
	if len(names) == 0 {
		return errors.New("%test: there are no tests: define a function such as func TestName(t *testing.T)")
	}
	t.run(run)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := run.table(t.output.Stdout()); err != nil {
		return err
	}
	if err := run.failure(); err != nil {
		return fmt.Errorf("%%test: %w", err)
	}
	if len(run.order) == 0 {
		return fmt.Errorf("%%test: no test runs with these arguments: the tests are %s", strings.Join(names, ", "))
	}
	return nil
}

// add adds a function of the session to a run.
func (t *tests) add(run *testRun, test magic.Test) error {
	name, want := test.Name, ""
	switch f := test.Function.(type) {
	case func(*testing.T):
		run.tests = append(run.tests, testing.InternalTest{Name: name, F: t.test(f)})
		if !strings.HasPrefix(name, "Test") {
			want = name
		}
	case func(*testing.B):
		run.benchmarks = append(run.benchmarks, testing.InternalBenchmark{Name: name, F: t.benchmarkFunction(f)})
		if !strings.HasPrefix(name, "Benchmark") {
			want = name
		}
	case func(*testing.F):
		run.fuzz = append(run.fuzz, testing.InternalFuzzTarget{Name: name, Fn: func(tb *testing.F) {
			t.begin(tb)
			t.protect(tb, func() { f(tb) })
		}})
		if !strings.HasPrefix(name, "Fuzz") {
			want = name
		}
	case func(*testing.M):
		run.testMain = f
		if name != "TestMain" {
			want = name
		}
	case func():
		if !strings.HasPrefix(name, "Example") {
			want = name
		} else if test.HasOutput {
			run.examples = append(run.examples, testing.InternalExample{Name: name, F: run.example(t, name, f), Output: test.Output, Unordered: test.Unordered})
		}
	default:
		want = name
	}
	if want == "" {
		return nil
	}
	parameter := "t *testing.T"
	switch {
	case strings.HasPrefix(name, "Benchmark"):
		parameter = "b *testing.B"
	case strings.HasPrefix(name, "Fuzz"):
		parameter = "f *testing.F"
	case strings.HasPrefix(name, "Example"):
		parameter = ""
	}
	return fmt.Errorf("%%test: %s is not a test: it must be func %s(%s), or have another name", name, name, parameter)
}

// testFlags returns the flags of package testing, which it registers first, as a test program does.
var testFlags = sync.OnceValue(func() *flag.FlagSet {
	if flag.Lookup("test.v") != nil {
		return flag.CommandLine // of a test of this program
	}
	// The flags of the process belong to the programs of cells.
	own, ofCells := flag.NewFlagSet("testing", flag.ContinueOnError), flag.CommandLine
	flag.CommandLine = own
	testing.Init()
	flag.CommandLine = ofCells
	return own
})

// oneRun is held while package testing runs tests: its flags, and os.Stdout, belong to the process.
var oneRun sync.Mutex

// setTestFlags sets flags of package testing, and the others to their defaults.
func setTestFlags(values map[string]string) (restore func(), err error) {
	flags, before := testFlags(), map[string]string{}
	restore = func() {
		for name, value := range before {
			_ = flags.Set(name, value) // it was valid before
		}
	}
	flags.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			return
		}
		before[f.Name] = f.Value.String()
		_ = f.Value.Set(f.DefValue)
	})
	for name, value := range values {
		if e := flags.Set(name, value); e != nil {
			err = fmt.Errorf("-%s: %w", strings.TrimPrefix(name, "test."), e)
		}
	}
	return restore, err
}

// exit is os.Exit of the tests. TestMain ends with it.
func (r *testRun) exit(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ran.Load() {
		r.exited.Store(true)
	}
	r.status = code
}

// start runs the tests of TestMain, or of a run without it. It is testing.M.Run.
func (t *tests) start(m *testing.M) int {
	code := m.Run()
	if run := t.running.Load(); run != nil {
		run.mu.Lock()
		defer run.mu.Unlock()
		run.ran.Store(true)
		if run.status == 0 && !run.exited.Load() {
			run.status = code
		}
	}
	return code
}

// run runs tests and returns when they have ended or the cell has been interrupted.
func (t *tests) run(run *testRun) *testRun {
	if t.running.CompareAndSwap(nil, run) {
		defer t.running.Store(nil)
		oneRun.Lock()
		defer oneRun.Unlock()
		restore, err := setTestFlags(run.flags)
		defer restore()
		if err == nil {
			restore, err = t.redirect(run)
			defer restore()
		}
		if err != nil {
			run.invalid, run.status = err, 2
			return run
		}
		if !flag.Parsed() {
			_ = flag.CommandLine.Parse(nil) // package testing would parse the arguments of the process
		}
	}
	m := t.goroutines.Member()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if v := recover(); v != nil && !t.isStopped() {
				fmt.Fprintln(t.output.Stderr(), t.describe(v))
				run.exit(2)
			}
		}()
		if m != nil {
			child := m.Child(m.Run)
			child.Exit = run.exit
			t.goroutines.Enter(child)
		}
		program := testing.MainStart(fuzzDeps{run}, run.tests, run.benchmarks, run.fuzz, run.examples)
		if run.testMain != nil {
			run.testMain(program)
		} else {
			t.start(program)
		}
	}()
	if m == nil {
		<-ended
		return run
	}
	select {
	case <-ended:
	case <-m.Stopped():
		// The goroutines of the tests end by themselves, unless they wait in compiled code.
		timer := time.NewTimer(goroutine.Grace)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
		}
	}
	return run
}

// lateOutput is how long to wait for output when the tests have ended: a process that they have started in the background
// may keep the stream open forever.
const lateOutput = 300 * time.Millisecond

// redirect makes os.Stdout, to which package testing writes, the standard output of the session.
func (t *tests) redirect(run *testRun) (restore func(), err error) {
	before := os.Stdout
	in, out, err := os.Pipe()
	if err != nil { // in a browser
		return t.redirectToFile(run)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer in.Close()
		_, _ = io.Copy(io.MultiWriter(t.output.Stdout(), &exampleWatcher{run: run}), in)
	}()
	os.Stdout = out
	return func() {
		os.Stdout = before
		out.Close()
		timer := time.NewTimer(lateOutput)
		defer timer.Stop()
		select {
		case <-copied:
		case <-timer.C:
		}
	}, nil
}

// redirectToFile is redirect with a file, which is shown at the end.
func (t *tests) redirectToFile(run *testRun) (restore func(), err error) {
	before := os.Stdout
	f, err := os.CreateTemp("", "tests")
	if err != nil {
		return func() {}, err
	}
	os.Stdout = f
	return func() {
		os.Stdout = before
		if _, err := f.Seek(0, io.SeekStart); err == nil {
			_, _ = io.Copy(io.MultiWriter(t.output.Stdout(), &exampleWatcher{run: run}), f)
		}
		f.Close()
		os.Remove(f.Name())
	}, nil
}

// An exampleWatcher finds the examples that package testing reports as failed because of their output.
type exampleWatcher struct {
	run  *testRun
	line []byte
}

// Write implements io.Writer.
func (w *exampleWatcher) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	for {
		line, rest, ok := bytes.Cut(w.line, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		if name, ok := bytes.CutPrefix(line, []byte("--- FAIL: ")); ok {
			name, _, _ = bytes.Cut(name, []byte(" ("))
			w.run.failExample(string(name))
		}
		w.line = rest
	}
}

func (r *testRun) failExample(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.order {
		if row.name == name && row.example {
			row.result = "FAIL"
		}
	}
}
