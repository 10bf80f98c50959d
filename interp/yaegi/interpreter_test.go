package yaegi

import (
	"bytes"
	"reflect"
	"strings"
	"sync"
	"testing"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/vm"
)

// TestYaegiInternals fails if yaegi no longer has the unexported fields that this package uses.
func TestYaegiInternals(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[upstream.Interpreter]()
	has := func(in reflect.Type, name string, want reflect.Kind) reflect.Type {
		f, ok := in.FieldByName(name)
		if !ok || f.Type.Kind() != want {
			t.Fatalf("%v.%s is %v", in, name, f.Type)
		}
		return f.Type
	}
	node := has(of, "roots", reflect.Slice).Elem().Elem()
	has(node, "anc", reflect.Pointer)
	has(node, "child", reflect.Slice)
	frame := has(of, "frame", reflect.Pointer).Elem()
	if data := has(frame, "data", reflect.Slice); data != reflect.TypeFor[[]reflect.Value]() {
		t.Errorf("frame.data is %v", data)
	}
	if mutex := has(frame, "mutex", reflect.Struct); mutex != reflect.TypeFor[sync.RWMutex]() {
		t.Errorf("frame.mutex is %v", mutex)
	}
	scope := has(of, "scopes", reflect.Map).Elem().Elem()
	has(scope, "child", reflect.Slice)
	symbol := has(scope, "sym", reflect.Map).Elem().Elem()
	has(symbol, "index", reflect.Int)
	has(symbol, "kind", reflect.Uint)
	has(of, "binPkg", reflect.Map)
	has(of, "fset", reflect.Pointer)
	if varSym > 255 {
		t.Error("the kind of variables is not found")
	}
}

// TestFrames checks which functions are found in a stack trace of the runtime.
func TestFrames(t *testing.T) {
	t.Parallel()
	text := "panic({0x1?, 0x2?})\n\t/x.go:1 +0x1\nstrings.Repeat({0x1, 0x2}, 0xffff)\n\t/x.go:1\nreflect.Value.call({0x14f5f20?, 0x1})\n" +
		vm.Activation + "(0x1?, 0x2, 0x0?)\n\t/x.go:3\n...12 frames elided...\n" +
		"sort.insertionSort_func(0x1)\n\t/x.go:1\nsort.Slice({0x1, 0x2}, 0x3)\n\t/x.go:1\n" + vm.Activation + "(0x1?, 0x2?)\n" +
		"created by x in goroutine 7\n\t/x.go:3\n"
	want := []Frame{{Function: "strings.Repeat", Compiled: true}, {}, {Function: "sort.Slice", Compiled: true}}
	if got := Frames(text); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestInterpreterKeep checks that the interpreter drops variables that have no known name, and keeps the others and what refers to all
// of them.
func TestInterpreterKeep(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if _, err := e.Eval("var nʹ1 = 5\nvar nʹ2 = 7"); err != nil {
		t.Fatal(err)
	}
	first, err := e.Address("nʹ1")
	if err != nil {
		t.Fatal(err)
	}
	e.Forget()
	e.Keep(map[string]bool{"nʹ2": true})
	if _, err := e.Eval("nʹ1"); err == nil {
		t.Error("nʹ1 is known")
	}
	if v, err := e.Eval("nʹ2"); err != nil || v.Interface() != 7 {
		t.Errorf("nʹ2 is %v, %v", v, err)
	}
	if got := first.Elem().Int(); got != 5 {
		t.Errorf("the variable is %d", got)
	}
}
