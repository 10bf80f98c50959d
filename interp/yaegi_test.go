package interp

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"testing"

	yaegi "github.com/traefik/yaegi/interp"
)

// TestYaegiInternals pins the unexported fields that yaegi.go relies on.
func TestYaegiInternals(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[yaegi.Interpreter]()
	for name, want := range map[string]reflect.Type{
		"id":         reflect.TypeFor[uint64](),
		"done":       reflect.TypeFor[chan struct{}](),
		"mutex":      reflect.TypeFor[sync.RWMutex](),
		"cancelChan": reflect.TypeFor[bool](),
	} {
		if f, ok := of.FieldByName(name); !ok || f.Type != want {
			t.Errorf("Interpreter.%s is %v, want %v", name, f.Type, want)
		}
	}
	if f, ok := of.FieldByName("roots"); !ok || f.Type.Kind() != reflect.Slice {
		t.Errorf("Interpreter.roots is %v", f.Type)
	}
	scopes, ok := of.FieldByName("scopes")
	if !ok || scopes.Type.Kind() != reflect.Map {
		t.Fatalf("Interpreter.scopes is %v", scopes.Type)
	}
	for name, kind := range map[string]reflect.Kind{"child": reflect.Slice, "sym": reflect.Map} {
		if f, ok := scopes.Type.Elem().Elem().FieldByName(name); !ok || f.Type.Kind() != kind {
			t.Errorf("scope.%s is %v", name, f.Type)
		}
	}
}

// TestEngineForget says that a forgotten function is gone by name and lives on
// where it is used.
func TestEngineForget(t *testing.T) {
	t.Parallel()
	e := newYaegi(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	for _, src := range []string{"func f() int { return 3 }\nfunc g() int { return f() }\nvar h = f", "g()"} {
		if _, err := e.Eval(src); err != nil {
			t.Fatal(err)
		}
	}
	e.Forget("f")
	if _, err := e.Eval("f()"); err == nil {
		t.Error("f is still there")
	}
	for _, src := range []string{"g()", "h()"} {
		if v, err := e.Eval(src); err != nil || v.Interface() != 3 {
			t.Errorf("%s gives %v, %v", src, v, err)
		}
	}
	if _, err := e.Eval("func f() int { return 4 }"); err != nil {
		t.Error(err)
	}
}

func TestTraceWriter(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &traceWriter{out: &out}
	for _, line := range []string{"1:26: panic: main.fʹ1(...)\n", "warning: a log line\n", "cell[3]:5:9: panic: main(...)\n"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Write gives %d, %v", n, err)
		}
	}
	if got := out.String(); got != "warning: a log line\n" {
		t.Errorf("%q went on", got)
	}
	want := []frame{{function: "fʹ1", line: 1}, {file: "cell[3]", line: 5}}
	if got := w.frames(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
