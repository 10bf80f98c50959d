package rt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/named"
	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

func TestRecovered(t *testing.T) {
	nilReceiver := &named.NilReceiverError{Path: "main", Type: "T", Method: "M"}
	for _, row := range []struct{ raised, want any }{
		{nil, nil}, {5, 5}, {"text", "text"}, {io.EOF, io.EOF}, {Code{1}, Code{1}},
		{"reflect: slice index out of range", "reflect: slice index out of range"}, // of a call of package reflect in a cell
		{reflect.Value{}, reflect.Value{}},
		{&uncaught{"interrupt"}, "interrupt"},
		{nilReceiver, goruntime.PlainError(nilReceiver.Error())},
	} {
		got := Recovered(panicValue(func() { // again, as after a deferred call
			d := &Deferred{}
			d.Raise(row.raised, nil)
			d.Continue()
		}))
		if row.raised == nil {
			got = Recovered(nil)
		}
		if got != row.want {
			t.Errorf("%T %v becomes %T %v", row.raised, row.raised, got, got)
		}
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
