package library

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/rt"
)

// Functions of package testing that call functions of cells on goroutines of their own. In Go a panic there, or a goroutine
// that ends without FailNow, ends the process. Here it fails the test.

// overrides returns the functions of package testing that cells use instead of the compiled ones.
func (t *tests) overrides() map[string]any {
	return map[string]any{
		"Init":          func() { testFlags() },
		"Short":         func() bool { return testFlags().Lookup("test.short").Value.String() == "true" },
		"Verbose":       func() bool { return testFlags().Lookup("test.v").Value.String() == "true" },
		"Testing":       func() bool { return t.running.Load() != nil },
		"Benchmark":     t.benchmark,
		"RunTests":      t.runTests,
		"RunBenchmarks": t.runBenchmarks,
		"RunExamples":   t.runExamples,
		"Main":          t.main,
	}
}

// protect calls f, a function of a cell, on the goroutine of a test. If f panics, or ends the goroutine by something else than
// FailNow and SkipNow, the test fails.
func (t *tests) protect(tb testing.TB, f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		switch {
		case v != nil:
			t.report(tb, v)
		case tb.Skipped():
			return // by SkipNow, of which package testing knows
		case !tb.Failed() && !t.isStopped():
			fmt.Fprintln(tb.Output(), "the test has called runtime.Goexit")
		}
		tb.FailNow()
	}()
	f()
	returned = true
}

// report writes the panic of the calling goroutine to the output of a test.
func (t *tests) report(tb testing.TB, value any) {
	fmt.Fprintln(tb.Output(), t.describe(value))
}

// describe returns the traceback of the panic of the calling goroutine.
func (t *tests) describe(value any) (text string) {
	defer func() {
		if recover() != nil { // a method of the value has panicked
			text = "panic with a value that cannot be shown"
		}
	}()
	return strings.Join(t.panics.Panic(rt.Recovered(value)).Traceback, "\n")
}

// isStopped reports whether the cell of the calling goroutine has been interrupted, or the tests have called os.Exit.
func (t *tests) isStopped() bool {
	if run := t.running.Load(); run != nil && run.exited.Load() {
		return true
	}
	m := t.goroutines.Member()
	return m != nil && m.IsStopped()
}

// test returns f as package testing may call it.
func (t *tests) test(f func(*testing.T)) func(*testing.T) {
	if f == nil {
		return nil
	}
	return func(tb *testing.T) {
		t.begin(tb)
		t.protect(tb, func() { f(tb) })
	}
}

// benchmarkFunction returns f as package testing may call it, several times with a growing b.N.
func (t *tests) benchmarkFunction(f func(*testing.B)) func(*testing.B) {
	if f == nil {
		return nil
	}
	return func(b *testing.B) {
		t.begin(b)
		defer t.measured(b)
		t.protect(b, func() { f(b) })
	}
}

// begin records a test that begins. If the cell is interrupted, or a test has called os.Exit, it ends it at once.
func (t *tests) begin(tb testing.TB) {
	run := t.running.Load()
	switch {
	case run != nil && run.exited.Load():
		tb.SkipNow() // a test program would have ended
	case t.isStopped():
		tb.FailNow()
	case run != nil:
		run.begin(tb)
	}
}

func (t *tests) measured(b *testing.B) {
	if run := t.running.Load(); run != nil {
		run.measured(b)
	}
}

// testRun is tb.Run(name, f).
func (t *tests) testRun(tb *testing.T, name string, f func(*testing.T)) bool {
	if isZero(tb) {
		panic(errNotMade)
	}
	return tb.Run(name, t.test(f))
}

var errNotMade = errors.New("this testing.T or B has not been made by package testing: %test runs the tests of a notebook")

// parallel is tb.Parallel().
func (t *tests) parallel(tb *testing.T) {
	if isZero(tb) {
		panic(errNotMade)
	}
	tb.Parallel()
	if run := t.running.Load(); run != nil {
		run.resumed(tb)
	}
}

// benchmarkRun is b.Run(name, f).
func (t *tests) benchmarkRun(b *testing.B, name string, f func(*testing.B)) bool {
	if isZero(b) {
		panic(errNotMade)
	}
	if run := t.running.Load(); run != nil {
		run.hasParts(b)
	}
	return b.Run(name, t.benchmarkFunction(f))
}

// benchmarkParallel is b.RunParallel(f).
func (t *tests) benchmarkParallel(b *testing.B, f func(*testing.PB)) {
	var ended sync.Once
	failed := false
	b.RunParallel(func(p *testing.PB) {
		returned := false
		defer func() {
			if returned {
				return
			}
			v := recover()
			ended.Do(func() { // one report is enough
				if failed = true; v != nil {
					t.report(b, v)
				}
			})
			b.Fail()
		}()
		f(p)
		returned = true
	})
	if failed {
		b.FailNow()
	}
}

// fuzzRun is f.Fuzz(target). The target is a func(*testing.T, …).
func (t *tests) fuzzRun(f *testing.F, target any) {
	v := reflect.ValueOf(target)
	if !v.IsValid() || v.Kind() != reflect.Func || v.Type().NumIn() == 0 || v.Type().NumOut() != 0 || v.Type().In(0) != reflect.TypeFor[*testing.T]() {
		f.Fuzz(target) // fails
		return
	}
	f.Fuzz(reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
		t.test(func(*testing.T) { v.Call(in) })(in[0].Interface().(*testing.T))
		return nil
	}).Interface())
}

// cleanup is tb.Cleanup(f).
func (t *tests) cleanup(tb testing.TB, f func()) {
	if t.isDouble(tb) || f == nil {
		tb.Cleanup(f)
		return
	}
	tb.Cleanup(func() {
		defer func() {
			if v := recover(); v != nil {
				t.report(tb, v)
				tb.Fail()
			}
		}()
		f()
	})
}

// bubble is synctest.Test. The goroutines that f starts belong to the bubble, since they are goroutines of Go.
func (t *tests) bubble(tb *testing.T, f func(*testing.T)) {
	if isZero(tb) {
		panic(errNotMade)
	}
	m := t.goroutines.Member()
	synctest.Test(tb, func(inner *testing.T) {
		if m != nil {
			child := m.Child(m.Run)
			child.Bubble = true
			t.goroutines.Enter(child)
		}
		t.protect(inner, func() { f(inner) })
	})
}

// benchmark is testing.Benchmark. A panic in f is that of the call.
func (t *tests) benchmark(f func(*testing.B)) testing.BenchmarkResult {
	testFlags()
	var failure any
	result := testing.Benchmark(func(b *testing.B) {
		returned := false
		defer func() {
			if returned {
				return
			}
			if v := recover(); v != nil {
				failure = v
				io.WriteString(t.output.Stderr(), t.describe(v)+"\n")
			}
			b.FailNow()
		}()
		f(b)
		returned = true
	})
	if failure != nil {
		panic(failure)
	}
	return result
}

// runTests is testing.RunTests.
func (t *tests) runTests(match func(pattern, text string) (bool, error), list []testing.InternalTest) bool {
	return t.run(&testRun{match: match, tests: t.wrapTests(list)}).status == 0
}

// runBenchmarks is testing.RunBenchmarks. In Go it runs those that the flag -test.bench selects, which is empty in a notebook.
func (t *tests) runBenchmarks(match func(pattern, text string) (bool, error), list []testing.InternalBenchmark) {
	t.run(&testRun{match: match, benchmarks: t.wrapBenchmarks(list), flags: map[string]string{"test.bench": "."}})
}

// runExamples is testing.RunExamples.
func (t *tests) runExamples(match func(pattern, text string) (bool, error), list []testing.InternalExample) bool {
	run := &testRun{match: match}
	run.examples = t.wrapExamples(run, list)
	return t.run(run).status == 0
}

func (t *tests) wrapTests(list []testing.InternalTest) (wrapped []testing.InternalTest) {
	for _, test := range list {
		wrapped = append(wrapped, testing.InternalTest{Name: test.Name, F: t.test(test.F)})
	}
	return wrapped
}

func (t *tests) wrapBenchmarks(list []testing.InternalBenchmark) (wrapped []testing.InternalBenchmark) {
	for _, b := range list {
		wrapped = append(wrapped, testing.InternalBenchmark{Name: b.Name, F: t.benchmarkFunction(b.F)})
	}
	return wrapped
}

func (t *tests) wrapExamples(run *testRun, list []testing.InternalExample) (wrapped []testing.InternalExample) {
	for _, e := range list {
		e.F = run.example(t, e.Name, e.F)
		wrapped = append(wrapped, e)
	}
	return wrapped
}

// main is testing.Main. It does not end the process if the cell is not a program, but fails the cell if a test fails.
func (t *tests) main(match func(pattern, text string) (bool, error), list []testing.InternalTest, benchmarks []testing.InternalBenchmark, examples []testing.InternalExample) {
	run := &testRun{match: match, tests: t.wrapTests(list), benchmarks: t.wrapBenchmarks(benchmarks)}
	run.examples = t.wrapExamples(run, examples)
	t.run(run)
	if m := t.goroutines.Member(); m != nil && m.Program {
		t.goroutines.Exit(run.status)
	}
	if err := run.failure(); err != nil {
		panic(diagnostics.NewCommandError(fmt.Errorf("testing.Main: %w", err)))
	}
}

// fuzzDeps implements what package testing needs of "go test".
type fuzzDeps struct{ run *testRun }

// MatchString reports no error, with which package testing would end the process.
func (d fuzzDeps) MatchString(pattern, text string) (bool, error) {
	ok, err := d.run.match(pattern, text)
	if err != nil {
		d.run.invalid = fmt.Errorf("the pattern %q: %w", pattern, err)
	}
	return ok && err == nil, nil
}

type corpusEntry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

var errFuzzing = errors.New("only the seeds of fuzz tests run in a cell")

func (fuzzDeps) ImportPath() string                          { return "" }
func (fuzzDeps) ModulePath() string                          { return "" }
func (fuzzDeps) SetPanicOnExit0(bool)                        {}
func (fuzzDeps) StartCPUProfile(io.Writer) error             { return nil }
func (fuzzDeps) StopCPUProfile()                             {}
func (fuzzDeps) StartTestLog(io.Writer)                      {}
func (fuzzDeps) StopTestLog() error                          { return nil }
func (fuzzDeps) WriteProfileTo(string, io.Writer, int) error { return nil }
func (fuzzDeps) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []corpusEntry, []reflect.Type, string, string) error {
	return errFuzzing
}
func (fuzzDeps) RunFuzzWorker(func(corpusEntry) error) error { return errFuzzing }
func (fuzzDeps) ReadCorpus(string, []reflect.Type) ([]corpusEntry, error) {
	return nil, nil
}

func (fuzzDeps) CheckCorpus(values []any, types []reflect.Type) error {
	if len(values) != len(types) {
		return fmt.Errorf("wrong number of values in call to Add: %d, want %d", len(values), len(types))
	}
	for i, v := range values {
		if got := reflect.TypeOf(v); got != types[i] {
			return fmt.Errorf("mismatched types in call to Add: %v, want %v", got, types[i])
		}
	}
	return nil
}
func (fuzzDeps) ResetCoverage()    {}
func (fuzzDeps) SnapshotCoverage() {}
func (fuzzDeps) InitRuntimeCoverage() (mode string, tearDown func(string, string) (string, error), snapshot func() float64) {
	return "", nil, nil
}
