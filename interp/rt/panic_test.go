package rt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestRecovered makes package reflect panic as it does in yaegi, and compares the result
// with the panic of compiled Go.
func TestRecovered(t *testing.T) {
	var (
		slice  = []int{1}
		array  = &[2]int{}
		index  = 5
		nilMap map[string]int
		null   *Point
		fn     func()
		negInt = -1
	)
	tests := []struct {
		name        string
		yaegi, real func()
		exact       bool // including numbers
	}{
		{"slice index", func() { reflect.ValueOf(slice).Index(index) }, func() { _ = slice[index] }, false},
		{"array index", func() { reflect.ValueOf(array).Elem().Index(index) }, func() { _ = array[index] }, false},
		{"string index", func() { reflect.ValueOf("s").Index(index) }, func() { _ = "s"[index] }, false},
		{"slice bounds", func() { reflect.ValueOf(slice).Slice(0, index) }, func() { _ = slice[0:index] }, false},
		{"slice bounds of three", func() { reflect.ValueOf(slice).Slice3(0, 1, index) }, func() { _ = slice[0:1:index] }, false},
		{"string bounds", func() { reflect.ValueOf("s").Slice(0, index) }, func() { _ = "s"[0:index] }, false},
		{"nil map", func() { reflect.ValueOf(nilMap).SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf(1)) }, func() { nilMap["k"] = 1 }, true},
		{"nil pointer", func() { reflect.ValueOf(null).Elem().Field(0) }, func() { _ = null.X }, true},
		{"nil function", func() { reflect.ValueOf(fn).Call(nil) }, func() { fn() }, true},
		{"makeslice", func() { reflect.MakeSlice(reflect.TypeOf(slice), negInt, 1) }, func() { _ = make([]int, negInt) }, true},
		{"division", func() { _ = index / (negInt + 1) }, func() { _ = index / (negInt + 1) }, true},
		{"closed channel", func() { c := make(chan int); close(c); reflect.ValueOf(c).Close() }, func() { c := make(chan int); close(c); close(c) }, true},
		{"makechan", func() { reflect.MakeChan(reflect.TypeFor[chan int](), negInt) }, func() { _ = make(chan int, negInt) }, true},
	}
	for _, tt := range tests {
		want, got := panicValue(tt.real), Recovered(panicValue(tt.yaegi))
		err, ok := got.(runtime.Error)
		if !ok {
			t.Errorf("%s: %T %v is not a runtime.Error", tt.name, got, got)
			continue
		}
		text := want.(runtime.Error).Error()
		if tt.exact && err.Error() != text || !strings.HasPrefix(text, err.Error()) {
			t.Errorf("%s: got %q, want %q", tt.name, err, text)
		}
	}
	for _, x := range []any{nil, 5, "text", errors.New("e"), Code{1}, "reflect is a nice package"} {
		if got := Recovered(x); got != x {
			t.Errorf("%v becomes %v", x, got)
		}
		if got := Recovered(reflect.ValueOf(reflect.ValueOf(x))); got != x {
			t.Errorf("%v in a reflect.Value becomes %v", x, got)
		}
	}
	own := []any{"reflect.Value.Slice is not supported here", &reflect.ValueError{Method: "mine"}}
	for _, t := range reflectPanics {
		own = append(own, t.prefix, t.prefix+" of a cell")
	}
	for _, x := range own {
		got := panicValue(func() { // again, as after a deferred call
			d := &Deferred{}
			d.Raise(panicValue(func() { panic(PanicValue(x)) }), nil)
			d.Continue()
		})
		if got := Recovered(got); got != x {
			t.Errorf("panic(%v) of a cell becomes %T %v", x, got, got)
		}
	}
	if Recovered(reflect.Value{}) != nil {
		t.Error("the zero reflect.Value is not nil")
	}
}

func TestIndex(t *testing.T) {
	s := []int{1, 2, 3}
	for _, i := range []int{-5, -1, 0, 2, 3, 1 << 40} {
		want := fmt.Sprint(panicValue(func() { _ = s[i] }))
		got := fmt.Sprint(panicValue(func() {
			if Index(i, len(s)) != i {
				t.Error("Index changes the index")
			}
		}))
		if got != want {
			t.Errorf("Index(%d, 3): %s, want %s", i, got, want)
		}
	}
}

// builtinValues are printed by the builtins of a child process and by this package.
var builtinValues = []any{
	true, 1, -5, uint8(7), 1.5, float32(0.1), 1e100, 1 + 2i, "text", uintptr(9), rune('x'), 0.0, -0.0, complex64(-1i),
}

func TestMain(m *testing.M) {
	if os.Getenv("QUERN_TEST_PRINT") != "" {
		println(true, 1, -5, uint8(7), 1.5, float32(0.1), 1e100, 1+2i, "text", uintptr(9), rune('x'), 0.0, -0.0, complex64(-1i))
		print(true, 1, -5, uint8(7), 1.5, float32(0.1), 1e100, 1+2i, "text", uintptr(9), rune('x'), 0.0, -0.0, complex64(-1i))
		println()
		var p *int
		println(p, []int(nil), map[int]int(nil))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestBuiltinPrint(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "QUERN_TEST_PRINT=1")
	var want, got bytes.Buffer
	child.Stderr = &want
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	r := New(Config{Stderr: &got})
	r.BuiltinPrintln(builtinValues...)
	r.BuiltinPrint(builtinValues...)
	r.BuiltinPrintln()
	r.BuiltinPrintln((*int)(nil), []int(nil), map[int]int(nil))
	if got.String() != want.String() {
		t.Errorf("got  %s\nwant %s", got.String(), want.String())
	}
	if s := builtinOperand(r.Words(1)); !strings.HasPrefix(s, "(0x") || !strings.Contains(s, ",0x") {
		t.Errorf("an interface prints as %s", s)
	}
}

func TestPanicText(t *testing.T) {
	w := newHarness(t)
	for want, x := range map[string]any{
		"code 3": Code{3}, "3.0°C": Celsius(3), `rt.Text("t")`: Text("t"), "rt.Int(5)": Int(5), "rt.Flag(true)": Flag(true),
		"plain": "plain", "5": 5, "1.5": 1.5, "(rt.Point) {X:1 Y:2 note:n}": Point{1, 2, "n"}, "as error": Both{1}, "rt.Complex(1+2i)": Complex(1 + 2i),
		"nil": nil, "e": errors.New("e"),
	} {
		if got := w.PanicText(w.box(x)); got != want {
			t.Errorf("panic(%#v) prints %s, want %s", x, got, want)
		}
	}
}
