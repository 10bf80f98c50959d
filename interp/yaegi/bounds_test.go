package yaegi

import (
	"fmt"
	"reflect"
	"testing"

	upstream "github.com/traefik/yaegi/interp"
)

// TestBoundsInternals fails if yaegi no longer has the unexported fields that bounds.go uses.
func TestBoundsInternals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]reflect.Kind{"kind": reflect.Uint, "child": reflect.Slice, "findex": reflect.Int, "level": reflect.Int, "rval": reflect.Struct, "sym": reflect.Pointer} {
		if f, ok := nodeType.FieldByName(name); !ok || f.Type.Kind() != want {
			t.Errorf("node.%s is %v", name, f.Type)
		}
	}
	if f, ok := frameType.FieldByName("data"); !ok || f.Type != reflect.TypeFor[[]reflect.Value]() {
		t.Errorf("frame.data is %v", f.Type)
	}
	for _, name := range []string{"start", "tnext", "fnext"} {
		if f, ok := nodeType.FieldByName(name); !ok || f.Type != reflect.PointerTo(nodeType) {
			t.Errorf("node.%s is %v", name, f.Type)
		}
	}
	for name, parameter := range map[string]reflect.Type{"exec": reflect.PointerTo(frameType), "gen": reflect.PointerTo(nodeType)} {
		if f, ok := nodeType.FieldByName(name); !ok || f.Type.Kind() != reflect.Func || f.Type.NumIn() != 1 || f.Type.In(0) != parameter {
			t.Errorf("node.%s is %v", name, f.Type)
		}
	}
	for _, name := range []string{"anc", "root"} {
		if f, ok := frameType.FieldByName(name); !ok || f.Type != reflect.PointerTo(frameType) {
			t.Errorf("frame.%s is %v", name, f.Type)
		}
	}
	if f, ok := reflect.TypeFor[upstream.Program]().FieldByName("root"); !ok || f.Type != reflect.PointerTo(nodeType) {
		t.Errorf("Program.root is %v", f.Type)
	}
	if indexExpr > 255 || sliceExpr > 255 || funcLit > 255 {
		t.Error("the kinds of index expressions are not found")
	}
}

// TestCheckBounds compares panics of function literals and declared functions, with operands wherever yaegi has them.
func TestCheckBounds(t *testing.T) {
	t.Parallel()
	i := upstream.New(upstream.Options{})
	eval := func(source string) (v reflect.Value, err error) {
		p, err := i.Compile(source)
		if err != nil {
			return v, err
		}
		CheckBounds(p)
		return i.Execute(p)
	}
	if _, err := eval(`var xs = []int{1, 2, 3}
var global = 5
func declared(i int) int { for { return xs[i] } }
func literal(i int) func() int { return func() int { return xs[i] + func() int { return xs[i] }() } }
func variable(i int) int { f := func(s string) byte { return s[i] }; return int(f("abc")) }
func array(i int) (s []int) { var a [4]int; p := &a; for { return p[i:] } }
func bounds(low, high, most int) []int { return xs[low:high:most] }
func first(high int) []int { return xs[:high] }
func constant() int { return xs[global] + xs[2] }
func unsigned(i uint64) int { return xs[i] }`); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ call, want string }{
		{"declared(2)", "3"},
		{"declared(3)", "runtime error: index out of range [3] with length 3"},
		{"declared(-1)", "runtime error: index out of range [-1]"},
		{"literal(1)()", "4"},
		{"literal(7)()", "runtime error: index out of range [7] with length 3"},
		{"variable(3)", "runtime error: index out of range [3] with length 3"},
		{"array(1)", "[0 0 0]"},
		{"array(5)", "runtime error: slice bounds out of range [5:4]"},
		{"bounds(1, 2, 3)", "[2]"},
		{"bounds(1, 2, 4)", "runtime error: slice bounds out of range [::4] with capacity 3"},
		{"bounds(1, 3, 2)", "runtime error: slice bounds out of range [:3:2]"},
		{"bounds(2, 1, 3)", "runtime error: slice bounds out of range [2:1:]"},
		{"first(2)", "[1 2]"},
		{"first(4)", "runtime error: slice bounds out of range [:4] with capacity 3"},
		{"constant()", "runtime error: index out of range [5] with length 3"},
		{"unsigned(1 << 63)", "runtime error: index out of range [9223372036854775808] with length 3"},
	} {
		v, err := eval(row.call)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(v)
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s", row.call, got, row.want)
		}
	}
}
