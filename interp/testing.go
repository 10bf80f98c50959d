package interp

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// tests are the methods of *testing.T, B and F that tell the place of their call:
// that is one in the interpreter for package testing, and one in a cell here.
type tests struct {
	session *Session
	helpers sync.Map // helper to nil
}

// helper is a function of cells that has called Helper of a test.
type helper struct {
	test     testing.TB
	function string
}

// symbols are the functions in the stead of the methods, for lowered code.
func (t *tests) symbols() map[string]reflect.Value {
	sprintf := t.session.registry.Sprintf
	return map[string]reflect.Value{
		"TestHelper": reflect.ValueOf(t.helper),
		"TestLog":    reflect.ValueOf(func(tb testing.TB, a ...any) { t.log(tb, fmt.Sprintln(a...)) }),
		"TestLogf":   reflect.ValueOf(func(tb testing.TB, format string, a ...any) { t.log(tb, sprintf(format, a...)) }),
		"TestError": reflect.ValueOf(func(tb testing.TB, a ...any) {
			t.log(tb, fmt.Sprintln(a...))
			tb.Fail()
		}),
		"TestErrorf": reflect.ValueOf(func(tb testing.TB, format string, a ...any) {
			t.log(tb, sprintf(format, a...))
			tb.Fail()
		}),
		"TestFatal": reflect.ValueOf(func(tb testing.TB, a ...any) {
			t.log(tb, fmt.Sprintln(a...))
			tb.FailNow()
		}),
		"TestFatalf": reflect.ValueOf(func(tb testing.TB, format string, a ...any) {
			t.log(tb, sprintf(format, a...))
			tb.FailNow()
		}),
		"TestSkip": reflect.ValueOf(func(tb testing.TB, a ...any) {
			t.log(tb, fmt.Sprintln(a...))
			tb.SkipNow()
		}),
		"TestSkipf": reflect.ValueOf(func(tb testing.TB, format string, a ...any) {
			t.log(tb, sprintf(format, a...))
			tb.SkipNow()
		}),
	}
}

// log is tb.Log of a text, of which lines after the first are further in.
func (t *tests) log(tb testing.TB, text string) {
	place := "???"
	for n := 0; ; n++ {
		f, ok := t.session.above(n)
		if !ok {
			break
		}
		place = fmt.Sprintf("%s:%d", f.file, f.line)
		if _, ok := t.helpers.Load(helper{tb, f.function}); !ok {
			break
		}
	}
	text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
	_, _ = io.WriteString(tb.Output(), place+": "+text+"\n") // as Log, which has no error
}

// helper is tb.Helper().
func (t *tests) helper(tb testing.TB) {
	if f, ok := t.session.above(0); ok {
		t.helpers.Store(helper{tb, f.function}, nil)
	}
}
