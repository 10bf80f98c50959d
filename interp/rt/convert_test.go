package rt

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
)

// as converts a boxed value to the compiled interface T, as lowered code does.
func as[T any](t *testing.T, w *harness, x any) T {
	t.Helper()
	v, ok := w.Convert(x, typeOf[T](w))
	if !ok {
		t.Fatalf("%T does not convert to %v", x, reflect.TypeFor[T]())
	}
	assigned, ok := w.Assign(x, typeOf[T](w)).(T)
	if !ok || !w.Equal(assigned, x) {
		t.Errorf("Assign of a %T to %v gives %v", x, reflect.TypeFor[T](), assigned)
	}
	return v.(T)
}

func TestConvertStreams(t *testing.T) {
	w := newHarness(t)
	boxed := w.box(&Stream{Data: []byte("data")})
	r := as[io.Reader](t, w, boxed)
	if text, err := io.ReadAll(r); string(text) != "data" || err != nil {
		t.Errorf("ReadAll gives %q, %v", text, err)
	}
	if c, ok := r.(io.Closer); !ok || !w.Equal(c.Close(), w.box(Code{1})) {
		t.Error("the reader is not an io.Closer")
	}
	if _, ok := r.(io.Seeker); ok {
		t.Error("the reader is an io.Seeker, which its type is not")
	}
	writer := as[io.Writer](t, w, boxed)
	if n, err := fmt.Fprintf(writer, "%d", 42); n != 2 || err != nil {
		t.Errorf("Fprintf gives %d, %v", n, err)
	}
	if !w.Equal(writer, boxed) || !w.Equal(boxed, r) {
		t.Error("the wrappers of one value are not equal to it")
	}
	var out strings.Builder
	if n, err := io.Copy(&out, as[io.Reader](t, w, w.box(Source{"direct"}))); out.String() != "direct" || n != 6 || err != nil {
		t.Errorf("io.Copy gives %q, %d, %v", out.String(), n, err)
	}
	var word string
	if _, err := fmt.Fscan(as[io.Reader](t, w, w.box(&Letters{Text: " word "})), &word); word != "word" || err != nil {
		t.Errorf("Fscan gives %q, %v", word, err)
	}
}

func TestConvertByMadeType(t *testing.T) {
	w := newHarness(t)
	boxed := w.box(Source{"text"})
	x := as[io.WriterTo](t, w, boxed)
	var out bytes.Buffer
	if _, err := x.WriteTo(&out); out.String() != "text" || err != nil {
		t.Errorf("WriteTo gives %q, %v", out.String(), err)
	}
	r, ok := x.(io.Reader)
	if !ok {
		t.Fatalf("the value is a %T without the other methods of its type", x)
	}
	if _, err := r.Read(nil); err == nil || err.Error() != "Read was called" {
		t.Errorf("Read gives %v", err)
	}
	if y := as[io.WriterTo](t, w, boxed); x != y || x == as[io.WriterTo](t, w, w.box(Source{"other"})) {
		t.Error("values are equal if they should not be, or the reverse")
	}
	if got := fmt.Sprintf("%v %T", x, x); got != "{text} rt.Source" {
		t.Errorf("compiled code prints %s", got)
	}
	if !w.Is(x, w.typ(t, "Source").id) || fmt.Sprintf("%T", x) != "rt.Source" || fmt.Sprint(x) != "{text}" {
		t.Errorf("the wrapper is %s, %T", x, fmt.Sprint(x))
	}
	if _, ok := w.Convert(x, typeOf[io.Reader](w)); !ok {
		t.Error("the wrapper does not convert to another interface")
	}
}

func TestConvertRejected(t *testing.T) {
	w := newHarness(t)
	if _, ok := w.Convert(w.box(Point{}), typeOf[io.Reader](w)); ok {
		t.Error("a Point converts to io.Reader")
	}
	if _, ok := w.Convert(nil, typeOf[error](w)); ok {
		t.Error("nil converts to error")
	}
	if v := w.Assign(nil, typeOf[error](w)); v != nil {
		t.Errorf("nil becomes %v", v)
	}
	if v, ok := w.Convert(io.EOF, typeOf[error](w)); !ok || v != io.EOF {
		t.Errorf("a compiled error becomes %v, %v", v, ok)
	}
}

func TestConvertSort(t *testing.T) {
	w := newHarness(t)
	raw := []int{3, 1, 2}
	boxed := w.typ(t, "Stack").Box(raw)
	w.Register(w.typ(t, "Stack").id, "Less", codeOf(raw, func(x any, i, j int) bool { return x.([]int)[i] < x.([]int)[j] }), nil)
	w.Register(w.typ(t, "Stack").id, "Swap", codeOf(raw, func(x any, i, j int) { s := x.([]int); s[i], s[j] = s[j], s[i] }), nil)
	v, _ := w.Convert(boxed, typeOf[sort.Interface](w))
	sort.Sort(sort.Reverse(v.(sort.Interface)))
	if !reflect.DeepEqual(raw, []int{3, 2, 1}) {
		t.Errorf("sorted: %v", raw)
	}
}

// TestMethods checks that an interface value implements the interfaces that compiled code looks for exactly if its
// type does.
func TestMethods(t *testing.T) {
	w := newHarness(t)
	for _, x := range append(operands(), Bundle{}, Secret(""), &Bundle{}, &Pixels{}, &Square2{}) {
		if x == nil || w.TypeID(w.box(x)) < 0 {
			continue
		}
		made, compiled := reflect.TypeOf(w.box(x)), reflect.TypeOf(x)
		if made.Kind() != compiled.Kind() || made.String() != compiled.String() {
			t.Errorf("the type of a %v is a %v", compiled, made)
		}
		for _, i := range []reflect.Type{
			errorType, reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[interface{ Unwrap() []error }](), reflect.TypeFor[display.Displayer](),
			reflect.TypeFor[image.Image](), reflect.TypeFor[slog.LogValuer](), reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
		} {
			if got, want := made.Implements(i), compiled.Implements(i); got != want {
				t.Errorf("%v implements %v: %v", made, i, got)
			}
		}
	}
}

func TestDisplay(t *testing.T) {
	w := newHarness(t)
	data, metadata := display.Render(w.box(Bundle{"<b>"}))
	if data["text/html"] != "<b>" || metadata["text/html"] == nil {
		t.Errorf("a Bundle shows as %v, %v", data, metadata)
	}
	data, metadata = display.Render(w.box(Pixels{4}))
	if b, ok := data["image/png"].([]byte); !ok || !bytes.HasPrefix(b, []byte("\x89PNG")) || metadata["image/png"] == nil {
		t.Errorf("an image shows as %v, %v", data, metadata)
	}
	if data, _ := display.Render(w.box(Point{1, 2, "n"})); data["text/plain"] != "{X:1 Y:2 note:n}" {
		t.Errorf("a Point shows as %v", data)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "secret", w.box(Secret("s3cr3t")))
	if !strings.Contains(out.String(), "secret=hidden") {
		t.Errorf("logged %s", out.String())
	}
}

func TestErrorsAs(t *testing.T) {
	w := newHarness(t)
	chain := &Wrapped{"outer", Many{io.EOF, &Wrapped{"inner", Code{3}}, &strconv.NumError{Func: "f", Num: "p", Err: strconv.ErrRange}}}
	errs := []error{nil, Code{1}, chain, Convertible{5}, io.EOF, fmt.Errorf("w: %w", &strconv.NumError{Func: "x", Err: io.EOF}), Both{2}}
	targets := []func() any{
		func() any { return new(Code) }, func() any { return new(*Wrapped) }, func() any { return new(*strconv.NumError) }, func() any { return new(Both) },
		func() any { return new(error) }, func() any { return new(fmt.Stringer) }, func() any { return new(Convertible) }, func() any { return new(Many) },
		func() any { return new(Shape) }, func() any { return new(Point) }, func() any { return Code{} }, func() any { return nil }, func() any { return (*Code)(nil) }, func() any { return new(any) },
	}
	for i, err := range errs {
		boxedErr, _ := w.box(err).(error)
		for _, target := range targets {
			real := target()
			boxed := w.box(target())
			var want, got bool
			wantPanic := panicValue(func() { want = errors.As(err, real) })
			gotPanic := panicValue(func() { got = errors.As(boxedErr, boxed) })
			if got != want || fmt.Sprint(gotPanic) != fmt.Sprint(wantPanic) {
				t.Errorf("error %d into %T: got %v, panic %v; want %v, panic %v", i, real, got, gotPanic, want, wantPanic)
			}
			if a, b := withoutAddresses(fmt.Sprintf("%+v", boxed)), withoutAddresses(fmt.Sprintf("%+v", real)); a != b {
				t.Errorf("error %d into %T: got %s, want %s", i, real, a, b)
			}
		}
		if got, want := errors.Is(boxedErr, io.EOF), errors.Is(err, io.EOF); got != want {
			t.Errorf("error %d: errors.Is is %v, want %v", i, got, want)
		}
		if err != nil {
			if got, want := errors.Is(boxedErr, w.box(Code{3}).(error)), errors.Is(err, Code{3}); got != want {
				t.Errorf("error %d: errors.Is a Code is %v, want %v", i, got, want)
			}
			if got, want := fmt.Sprint(errors.Unwrap(boxedErr)), fmt.Sprint(errors.Unwrap(err)); got != want {
				t.Errorf("error %d: errors.Unwrap is %v, want %v", i, got, want)
			}
		}
	}
	var numError *strconv.NumError // a target that needs no box
	if !errors.As(w.box(chain).(error), &numError) || numError.Num != "p" {
		t.Errorf("a compiled error is not found: %v", numError)
	}
}
