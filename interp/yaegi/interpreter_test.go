package yaegi

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"
)

// TestYaegiInternals fails if yaegi no longer has the unexported fields that this package uses.
func TestYaegiInternals(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[upstream.Interpreter]()
	if f, ok := of.FieldByName("roots"); !ok || f.Type.Kind() != reflect.Slice {
		t.Errorf("Interpreter.roots is %v", f.Type)
	}
	for name, want := range map[string]reflect.Kind{"kind": reflect.Uint, "anc": reflect.Pointer, "child": reflect.Slice, "ident": reflect.String, "findex": reflect.Int, "rval": reflect.Struct} {
		if f, ok := nodeType.FieldByName(name); !ok || f.Type.Kind() != want {
			t.Errorf("node.%s is %v", name, f.Type)
		}
	}
	if f, _ := nodeType.FieldByName("rval"); f.Type != reflect.TypeFor[reflect.Value]() {
		t.Errorf("node.rval is %v", f.Type)
	}
	for i, name := range []string{"typ_", "ptr", "flag"} {
		if f := reflect.TypeFor[reflect.Value]().Field(i); f.Name != name || f.Offset != uintptr(i)*unsafe.Sizeof(uintptr(0)) {
			t.Errorf("word %d of a reflect.Value is %s", i, f.Name)
		}
	}
	if f, ok := frameType.FieldByName("data"); !ok || f.Type != reflect.TypeFor[[]reflect.Value]() {
		t.Errorf("frame.data is %v", f.Type)
	}
	if funcDecl > 255 || funcLit > 255 || varSym > 255 {
		t.Error("the kinds of functions are not found")
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
	for name, kind := range map[string]reflect.Kind{"frame": reflect.Pointer, "binPkg": reflect.Map, "fset": reflect.Pointer} {
		if f, ok := of.FieldByName(name); !ok || f.Type.Kind() != kind {
			t.Errorf("Interpreter.%s is %v", name, f.Type)
		}
	}
	if f, ok := frameType.FieldByName("mutex"); !ok || f.Type != reflect.TypeFor[sync.RWMutex]() {
		t.Errorf("frame.mutex is %v", f.Type)
	}
	symbols, _ := scopes.Type.Elem().Elem().FieldByName("sym")
	if f, ok := symbols.Type.Elem().Elem().FieldByName("index"); !ok || f.Type.Kind() != reflect.Int {
		t.Errorf("symbol.index is %v", f.Type)
	}
	if f, ok := symbols.Type.Elem().Elem().FieldByName("node"); !ok || f.Type != reflect.PointerTo(nodeType) {
		t.Errorf("symbol.node is %v", f.Type)
	}
}

// TestInterpreterCallValue checks that a function that is called by its value receives a
// negative zero unchanged.
func TestInterpreterCallValue(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if _, err := e.Eval("var zero float64\nfunc f(x float64) float64 { return 1 / x }\nfunc g() float64 { return f(-zero) }"); err != nil {
		t.Fatal(err)
	}
	if err := e.CallValue("f"); err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{"g()", "f(-zero)"} {
		if v, err := e.Eval(src); err != nil || v.Float() != math.Inf(-1) {
			t.Errorf("%s gives %v, %v", src, v, err)
		}
	}
	if err := e.CallValue("h"); err == nil {
		t.Error("a function that is not declared is found")
	}
}

// TestInterpreterRedirect checks that callers that were compiled before a redirection call
// the new function.
func TestInterpreterRedirect(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if _, err := e.Eval("func f(xs ...int) int { return len(xs) }\nvar v func() int = func() int { return 5 }\nfunc g() int { return f() + f(1, 2) + f([]int{3, 4, 5}...) + v() }"); err != nil {
		t.Fatal(err)
	}
	for _, factor := range []int{10, 100} {
		if err := e.Redirect("f", reflect.ValueOf(func(xs ...int) int { return factor * len(xs) })); err != nil {
			t.Fatal(err)
		}
		if err := e.Redirect("v", reflect.ValueOf(func() int { return factor + 1 })); err != nil {
			t.Fatal(err)
		}
		if v, err := e.Eval("g()"); err != nil || v.Interface() != 6*factor+1 {
			t.Errorf("g() gives %v, %v", v, err)
		}
	}
	if err := e.Redirect("h", reflect.ValueOf(func() {})); err == nil {
		t.Error("a function that is not declared is found")
	}
}

// TestInterpreterForget checks that a forgotten function has no name any more, and still
// works for code that uses it.
func TestInterpreterForget(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
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
	w := newTraceWriter(&out)
	for _, line := range []string{"1:26: panic: main.fʹ1(...)\n", "warning: a log line\n", "cell[3]:5:9: panic: main(...)\n"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Write gives %d, %v", n, err)
		}
	}
	if got := out.String(); got != "warning: a log line\n" {
		t.Errorf("%q went on", got)
	}
	if len(w.traces) != 1 {
		t.Errorf("%d traces are kept", len(w.traces))
	}
	if w.take(); len(w.traces) != 0 {
		t.Error("a trace that was taken is kept")
	}
}

// TestFramesOf checks which functions are found in a stack trace of the runtime.
func TestFramesOf(t *testing.T) {
	t.Parallel()
	text := "panic({0x1?, 0x2?})\n\t/x.go:1 +0x1\nstrings.Repeat({0x1, 0x2}, 0xffff)\n\t/x.go:1\nreflect.Value.call({0x14f5f20?, 0x1})\n" +
		activationLine + "0x1?, 0x2, 0x0?)\n\t/x.go:3\n" + Functions + "call.func9(0x1)\n...12 frames elided...\n" +
		"sort.insertionSort_func(0x1)\n\t/x.go:1\nsort.Slice({0x1, 0x2}, 0x3)\n\t/x.go:1\n" + activationLine + "0x1?, 0x2?)\n" +
		"created by x in goroutine 7\n\t/x.go:3\n"
	want := []Frame{
		{Function: "strings.Repeat", Compiled: true}, {}, {},
		{Function: "sort.Slice", Compiled: true}, {},
	}
	if got := framesOf(text); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestInterpreterKeep checks that the interpreter drops what has no known name, and that
// code that was compiled before still works with its variables.
func TestInterpreterKeep(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if _, err := e.Eval("var nʹ1 = 5\nvar nʹ2 = 7\nfunc fʹ1() int { nʹ1++; return nʹ1 }\nfunc gʹ1() int { return fʹ1() }"); err != nil {
		t.Fatal(err)
	}
	v, err := e.Eval("gʹ1")
	if err != nil {
		t.Fatal(err)
	}
	e.Keep(map[string]bool{}, map[string]bool{"nʹ1": true})
	for _, name := range []string{"nʹ1", "nʹ2", "fʹ1", "gʹ1"} {
		if _, err := e.Eval(name); err == nil {
			t.Errorf("%s is known", name)
		}
	}
	for want := 6; want < 9; want++ {
		if got := v.Call(nil)[0].Int(); got != int64(want) {
			t.Errorf("got %d, want %d", got, want)
		}
		if _, err := e.Eval("var mʹ1 = 1"); err != nil {
			t.Fatal(err)
		}
		e.Keep(map[string]bool{}, map[string]bool{})
	}
}
