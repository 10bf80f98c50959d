package library

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stream"
)

// tests implements the methods of *testing.T, B and F that log the line of their call.
// Package testing would log a line of the interpreter; these methods log a line of a cell.
type tests struct {
	tracebacks Tracebacks
	values     Values
	goroutines Goroutines
	output     *stream.Output
	panics     Panics
	running    atomic.Pointer[testRun] // nil if no tests run
	helpers    sync.Map                // helper to nil
}

// A helper is a function of cells that has called Helper of a test.
type helper struct {
	test     testing.TB
	function string
}

// functions returns the functions and methods that cells use instead of those of package testing.
func (t *tests) functions() Packages {
	methods := map[string]any{
		"(*testing.B).Run":         t.benchmarkRun,
		"(*testing.B).RunParallel": t.benchmarkParallel,
		"(*testing.F).Fuzz":        t.fuzzRun,
		"(*testing.M).Run":         t.start,
		"(*testing.T).Parallel":    t.parallel,
		"(*testing.T).Run":         t.testRun,
	}
	for name, f := range map[string]any{
		"Cleanup": t.cleanup,
		"Helper":  t.helper,
		"Log":     t.logging(testing.TB.Log, func(testing.TB) {}),
		"Logf":    t.loggingf(testing.TB.Logf, func(testing.TB) {}),
		"Error":   t.logging(testing.TB.Error, testing.TB.Fail),
		"Errorf":  t.loggingf(testing.TB.Errorf, testing.TB.Fail),
		"Fatal":   t.logging(testing.TB.Fatal, testing.TB.FailNow),
		"Fatalf":  t.loggingf(testing.TB.Fatalf, testing.TB.FailNow),
		"Skip":    t.logging(testing.TB.Skip, testing.TB.SkipNow),
		"Skipf":   t.loggingf(testing.TB.Skipf, testing.TB.SkipNow),
	} {
		methods["(testing.TB)."+name], methods["(*testing.common)."+name] = f, f
	}
	return Packages{
		rt.Methods:        functionsOf(methods),
		"testing/testing": functionsOf(t.overrides()),

		"testing/synctest/synctest": functionsOf(map[string]any{"Test": t.bubble}),
	}
}

// logging returns a method that logs its arguments and then calls end. If the test is a value
// of a type of a cell, it has methods of its own, and those are called.
func (t *tests) logging(method func(testing.TB, ...any), end func(testing.TB)) func(testing.TB, ...any) {
	return func(tb testing.TB, a ...any) {
		if t.isDouble(tb) {
			method(tb, a...)
			return
		}
		t.log(tb, fmt.Sprintln(a...))
		end(tb)
	}
}

// loggingf is logging with a format.
func (t *tests) loggingf(method func(testing.TB, string, ...any), end func(testing.TB)) func(testing.TB, string, ...any) {
	return func(tb testing.TB, format string, a ...any) {
		if t.isDouble(tb) {
			method(tb, format, a...)
			return
		}
		t.log(tb, fmt.Sprintf(format, a...))
		end(tb)
	}
}

// log is tb.Log of a text. Lines after the first are indented.
func (t *tests) log(tb testing.TB, text string) {
	line := "???"
	for n := 0; ; n++ {
		f, ok := t.tracebacks.Caller(n)
		if !ok {
			break
		}
		line = fmt.Sprintf("%s:%d", f.File, f.Line)
		if _, ok := t.helpers.Load(helper{tb, f.Function}); !ok {
			break
		}
	}
	text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
	_, _ = io.WriteString(t.outputOf(tb), line+": "+text+"\n") // Log returns no error either
}

// outputOf returns where a test logs. A test that code of a cell has made, and not package testing, logs nothing in Go until
// somebody prints it.
func (t *tests) outputOf(tb testing.TB) io.Writer {
	if isZero(tb) {
		return t.output.Stdout()
	}
	return tb.Output()
}

// isZero reports whether tb is the address of a zero testing.T, B or F, and not made by package testing.
func isZero(tb testing.TB) bool {
	switch tb.(type) {
	case *testing.T, *testing.B, *testing.F:
		return tb.Name() == ""
	}
	return false
}

// isDouble reports whether tb is a value of a type of a cell.
func (t *tests) isDouble(tb testing.TB) bool { return t.values.TypeID(tb) >= 0 }

// helper is tb.Helper().
func (t *tests) helper(tb testing.TB) {
	if t.isDouble(tb) {
		tb.Helper()
		return
	}
	if f, ok := t.tracebacks.Caller(0); ok {
		t.helpers.Store(helper{tb, f.Function}, nil)
	}
}
