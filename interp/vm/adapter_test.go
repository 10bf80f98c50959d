package vm

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
	"unsafe"
)

// adapterFunctions cover each class of argument and result, and each number of registers for which there is an adapter.
var adapterFunctions = []any{
	func() {}, func() int { return -3 }, func() float64 { return 0.5 }, func() string { return "a" }, func() error { return errors.New("e") },
	func() (int, error) { return 1, nil }, func() (string, bool) { return "s", true }, func() []int { return []int{1, 2} },
	func(b bool) bool { return !b }, func(n int8) int8 { return n - 100 }, func(n int16) int16 { return -n }, func(n int32) int32 { return n * 3 },
	func(n uint8) uint8 { return n + 200 }, func(n uint16) uint16 { return ^n }, func(n uint32) uint32 { return ^n }, func(n uint64) uint64 { return ^n },
	func(x float64) float64 { return -x }, func(s string) string { return s + s }, func(s []string) string { return strings.Join(s, ",") },
	func(p *int) int { return *p }, func(p *int) *int { return p }, func(m map[string]int) int { return len(m) }, func(x any) string { return fmt.Sprint(x) },
	func(x error) (string, error) { return "x", x }, func(s string) (rune, int) { return utf8.DecodeRuneInString(s) },
	func(a int8, b string) (int8, error) { return a - 1, errors.New(b) }, func(a uint8, b float64) float64 { return float64(a) * b },
	func(a, b []byte) bool { return string(a) == string(b) },
	func(a string, b string) (string, string, bool) { return strings.Cut(a, b) }, func(a any, b error) (any, bool) { return a, b == nil },
	func(a *int, b int64) (*int, error) { return a, fmt.Errorf("%d", b) }, func(a string, b []any) (int, error) { return len(a) + len(b), nil },
	func(a, b, c string) string { return a + b + c }, func(a, b, c []int) int { return len(a) + 10*len(b) + 100*len(c) },
	func(a string, b int, c any) []string { return []string{a, fmt.Sprint(b, c)} }, func(a bool, b float64, c error) bool { return a && b > 0 && c == nil },
	func(a []string, b *int, c map[string]int) float64 { return float64(len(a)+*b) / float64(1+len(c)) },
	func(a, b float64) float64 { return a / b }, func(a, b, c float64) float64 { return a*b + c }, func(a float64) (float64, int) { return math.Frexp(a) },
	func(x float64, format byte, precision, bits int) string {
		return fmt.Sprint(x, format, precision, bits)
	},
	func(a, b string, c bool) string { return fmt.Sprint(a, b, c) },
	func(s, before, after string, n int) string { return strings.Replace(s, before, after, n%3) },
	func(a, b []byte, c string, d *int) (string, error) {
		return string(a) + string(b) + c, errors.New(fmt.Sprint(*d))
	},
	func(a float64, b []int, c float64, d any, e *int, g float64) (any, error) {
		return d, fmt.Errorf("%v %v %v %v %d", a, b, c, g, *e)
	},
	func(a, b, c, d, e, g, h, i, j int) (float64, bool) {
		return float64(a - b + c - d + e - g + h - i + j), a > j
	},
}

// functionsInRegisters have adapters where Go passes arguments in registers: on a stack, some of their arguments or results
// would share a word.
var functionsInRegisters = []any{
	func(a *int, b int8, c uint16) uint16 { return c + uint16(*a) + uint16(b) },
	func(a float64, b int32) (int32, bool) { return b - 1, a > 0 },
	func(a, b, c, d int16) int16 { return a - b + c - d },
}

// TestAdapters compares each adapter with the call that package reflect makes.
func TestAdapters(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" && runtime.GOARCH != "wasm" {
		t.Skip("arguments are passed in other registers")
	}
	functions := adapterFunctions
	if !onStack {
		functions = slices.Concat(functions, functionsInRegisters)
	}
	random := rand.New(rand.NewSource(1))
	for _, f := range functions {
		v := reflect.ValueOf(f)
		t.Run(v.Type().String(), func(t *testing.T) {
			in, out := shapesIn(t, v.Type().NumIn(), v.Type().In), shapesIn(t, v.Type().NumOut(), v.Type().Out)
			call := AdapterFor(in, FrameRegisters(in), out, FrameRegisters(out))
			if call == nil {
				t.Fatal("there is no adapter")
			}
			for range 50 {
				var scalars [10]int64
				var slots [8]slot
				for i := range scalars {
					scalars[i] = int64(random.Uint64()) // as left by earlier instructions
				}
				nb, sb := unsafe.Pointer(&scalars), unsafe.Pointer(&slots[0].p)
				arguments := make([]reflect.Value, len(in))
				for i, at := range FrameRegisters(in) {
					arguments[i] = argument(t, v.Type().In(i), random)
					in[i].Put(nb, sb, at, arguments[i])
				}
				want := v.Call(arguments)
				call(FunctionPointer(v), nb, sb)
				for i, at := range FrameRegisters(out) {
					if got := out[i].Get(nb, sb, at); !reflect.DeepEqual(got.Interface(), want[i].Interface()) {
						t.Fatalf("result %d is %v, want %v", i, got, want[i])
					}
					if out[i].File == Scalar && out[i].Type.Kind() != reflect.Float64 {
						before := *IntAt(nb, at)
						if out[i].Put(nb, sb, at, want[i]); *IntAt(nb, at) != before {
							t.Fatalf("result %d is not extended: %#x, want %#x", i, before, *IntAt(nb, at))
						}
					}
				}
			}
		})
	}
}

// TestNoAdapter checks that there are no adapters for signatures that need package reflect.
func TestNoAdapter(t *testing.T) {
	functions := []any{
		func(float32) {}, func(struct{ a, b int }) {}, func() [2]int { return [2]int{} },
		func(a, b, c, d, e string) {}, func(a []int, b, c string, x, y, z float64) {}, func() (int, int, int) { return 1, 2, 3 },
	}
	if onStack {
		functions = slices.Concat(functions, functionsInRegisters)
	} else {
		functions = append(functions, func(a, b, c, d float64) {}) // too many of these registers
	}
	for _, f := range functions {
		typ := reflect.TypeOf(f)
		in, out := shapesIn(t, typ.NumIn(), typ.In), shapesIn(t, typ.NumOut(), typ.Out)
		if AdapterFor(in, FrameRegisters(in), out, FrameRegisters(out)) != nil {
			t.Errorf("%s has an adapter", typ)
		}
	}
}

func shapesIn(t *testing.T, n int, at func(int) reflect.Type) []Shape {
	t.Helper()
	var list []Shape
	for i := range n {
		s, err := ShapeOf(at(i))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// argument returns a random value of a type.
func argument(t *testing.T, typ reflect.Type, random *rand.Rand) reflect.Value {
	t.Helper()
	switch {
	case typ.Kind() == reflect.Interface && typ.NumMethod() == 0:
		return reflect.ValueOf(random.Intn(100)).Convert(reflect.TypeFor[int]())
	case typ.Kind() == reflect.Interface:
		if random.Intn(2) == 0 {
			return reflect.Zero(typ)
		}
		return reflect.ValueOf(errors.New("an error"))
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Interface:
		return reflect.ValueOf([]any{1, "b"})
	case typ == reflect.TypeFor[*int]():
		n := random.Intn(1000)
		return reflect.ValueOf(&n)
	}
	v, ok := quick.Value(typ, random)
	if !ok {
		t.Fatalf("no value of %s", typ)
	}
	return v
}
