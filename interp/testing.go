package interp

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/interp/rt"
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
	return map[string]reflect.Value{
		"TestHelper": reflect.ValueOf(t.helper),
		"TestLog":    reflect.ValueOf(t.told(testing.TB.Log, func(testing.TB) {})),
		"TestLogf":   reflect.ValueOf(t.toldf(testing.TB.Logf, func(testing.TB) {})),
		"TestError":  reflect.ValueOf(t.told(testing.TB.Error, testing.TB.Fail)),
		"TestErrorf": reflect.ValueOf(t.toldf(testing.TB.Errorf, testing.TB.Fail)),
		"TestFatal":  reflect.ValueOf(t.told(testing.TB.Fatal, testing.TB.FailNow)),
		"TestFatalf": reflect.ValueOf(t.toldf(testing.TB.Fatalf, testing.TB.FailNow)),
		"TestSkip":   reflect.ValueOf(t.told(testing.TB.Skip, testing.TB.SkipNow)),
		"TestSkipf":  reflect.ValueOf(t.toldf(testing.TB.Skipf, testing.TB.SkipNow)),
	}
}

// told is a method that logs its arguments and then ends. A test that a type of a cell
// stands for has methods of its own, which nothing takes the place of.
func (t *tests) told(method func(testing.TB, ...any), end func(testing.TB)) func(testing.TB, ...any) {
	return func(tb testing.TB, a ...any) {
		if _, double := tb.(rt.TestDouble); double {
			method(tb, a...)
			return
		}
		t.log(tb, fmt.Sprintln(a...))
		end(tb)
	}
}

// toldf is told with a format.
func (t *tests) toldf(method func(testing.TB, string, ...any), end func(testing.TB)) func(testing.TB, string, ...any) {
	return func(tb testing.TB, format string, a ...any) {
		if _, double := tb.(rt.TestDouble); double {
			method(tb, format, a...)
			return
		}
		t.log(tb, t.session.registry.Sprintf(format, a...))
		end(tb)
	}
}

// log is tb.Log of a text, of which lines after the first are further in.
func (t *tests) log(tb testing.TB, text string) {
	place := "???"
	for n := 0; ; n++ {
		f, ok := t.session.tracebacks.Caller(n)
		if !ok {
			break
		}
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
		if _, ok := t.helpers.Load(helper{tb, f.Function}); !ok {
			break
		}
	}
	text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
	_, _ = io.WriteString(tb.Output(), place+": "+text+"\n") // as Log, which has no error
}

// helper is tb.Helper().
func (t *tests) helper(tb testing.TB) {
	if _, double := tb.(rt.TestDouble); double {
		tb.Helper()
		return
	}
	if f, ok := t.session.tracebacks.Caller(0); ok {
		t.helpers.Store(helper{tb, f.Function}, nil)
	}
}
