package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"regexp"
	"testing"
)

func TestTypeString(t *testing.T) {
	w := newHarness(t)
	for _, real := range []reflect.Type{
		reflect.TypeFor[byte](), reflect.TypeFor[rune](), reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[interface {
			M(x, y int, z ...string) (a, b any)
		}](),
		reflect.TypeFor[struct{}](), reflect.TypeFor[struct {
			A int `k:"v"`
			b []string
			Base
			*Point
		}](), reflect.TypeFor[<-chan int](), reflect.TypeFor[chan<- int](), reflect.TypeFor[chan (<-chan int)](), reflect.TypeFor[chan<- (chan int)](), reflect.TypeFor[chan (chan<- int)](),
		reflect.TypeFor[func()](), reflect.TypeFor[func(int, ...Point) (Text, error)](), reflect.TypeFor[func(func(int) string) map[Text][4]*Node](),
		reflect.TypeFor[Pair[Text, Int]](), reflect.TypeFor[Pair[string, []Point]](), reflect.TypeFor[Pair[string, Pair[Text, *Node]]](), reflect.TypeFor[Tree[map[string]any]](),
		reflect.TypeFor[interface {
			Exported()
			unexported(Point)
			error
		}](), reflect.TypeFor[map[struct{ X, Y int }]struct{ Shape }](), reflect.TypeFor[Tree[struct{ a int }]](),
	} {
		expression := writeGo(real)
		if got := w.typ(t, expression).String(); got != real.String() {
			t.Errorf("%s\n got %s\nwant %s", expression, got, real)
		}
	}
}

// writeGo formats a compiled type in the notation of shapes_test.go.
func writeGo(t reflect.Type) string { return qualifier.ReplaceAllString(t.String(), "") }

// qualifier matches the package name before the names of shapes_test.go.
var qualifier = regexp.MustCompile(`(github\.com/quernlab/quern/interp/)?\brt\.`)

func TestTypeOf(t *testing.T) {
	w := newHarness(t)
	same := func(t *testing.T, what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	var compare func(path string, got, want reflect.Type, depth int)
	compare = func(path string, got, want reflect.Type, depth int) {
		same(t, path, got, want)
		same(t, path+" Name", got.Name(), want.Name())
		same(t, path+" PkgPath", got.PkgPath(), want.PkgPath())
		same(t, path+" Kind", got.Kind(), want.Kind())
		same(t, path+" NumMethod", got.NumMethod(), want.NumMethod())
		same(t, path+" Comparable", got.Comparable(), want.Comparable())
		for i := range want.NumMethod() {
			same(t, path+" Method", got.Method(i).Name, want.Method(i).Name)
			if _, ok := got.MethodByName(want.Method(i).Name); !ok {
				t.Errorf("%s has no method %s", path, want.Method(i).Name)
			}
		}
		for _, i := range []reflect.Type{errorType, reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[fmt.Formatter](), reflect.TypeFor[Shape]()} {
			u := i
			if i.PkgPath() == w.pkg.Path() {
				u = w.InterfaceType(w.typ(t, "Shape"))
			}
			same(t, path+" Implements "+i.String(), got.Implements(u), want.Implements(i))
			same(t, path+" AssignableTo "+i.String(), got.AssignableTo(u), want.AssignableTo(i))
		}
		if depth == 0 {
			return
		}
		switch want.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
			compare(path+" elem", got.Elem(), want.Elem(), depth-1)
		case reflect.Map:
			compare(path+" key", got.Key(), want.Key(), depth-1)
			compare(path+" elem", got.Elem(), want.Elem(), depth-1)
		case reflect.Func:
			for i := range want.NumIn() {
				compare(path+" in", got.In(i), want.In(i), depth-1)
			}
			for i := range want.NumOut() {
				compare(path+" out", got.Out(i), want.Out(i), depth-1)
			}
		case reflect.Struct:
			if want.PkgPath() != "" && want.PkgPath() != w.pkg.Path() {
				return
			}
			i := 0
			for f := range got.Fields() {
				g := want.Field(i)
				i++
				same(t, path+" field", []any{f.Name, f.Tag, f.PkgPath, f.Anonymous, f.Index}, []any{g.Name, g.Tag, g.PkgPath, g.Anonymous, g.Index})
				compare(path+"."+f.Name, f.Type, g.Type, depth-1)
				a, okA := got.FieldByName(g.Name)
				b, okB := want.FieldByName(g.Name)
				same(t, path+" FieldByName "+g.Name, []any{a.Name, a.Index, okA}, []any{b.Name, b.Index, okB})
			}
		}
	}
	for _, x := range append(operands(), Record{}, Deep{}, Variadic{}) {
		if x == nil {
			if reflect.TypeOf(nil) != nil {
				t.Error("nil has a type")
			}
			continue
		}
		boxed := w.box(x)
		if w.TypeID(boxed) < 0 {
			continue
		}
		got := reflect.TypeOf(boxed)
		compare(reflect.TypeOf(x).String(), got, reflect.TypeOf(x), 3)
		if got != reflect.TypeOf(boxed) {
			t.Errorf("%v is not equal to itself", got)
		}
		if fmt.Sprintf("%T", got) != "*reflect.rtype" {
			t.Errorf("%%T of a reflect.Type is %s", fmt.Sprintf("%T", got))
		}
	}
	promoted, _ := reflect.TypeOf(w.box(Derived{})).FieldByName("Seen")
	want, _ := reflect.TypeFor[Derived]().FieldByName("Seen")
	same(t, "a promoted field", []any{promoted.Name, promoted.Index, promoted.Type}, []any{want.Name, want.Index, want.Type})
	if reflect.TypeOf(w.box(Int(1))) == reflect.TypeOf(w.box(Weekday(1))) {
		t.Error("two types of one shape are equal")
	}
	if !reflect.DeepEqual(w.box(Names{"a": 1}), w.box(Names{"a": 1})) || reflect.DeepEqual(w.box(Int(1)), w.box(Weekday(1))) || reflect.DeepEqual([]any{w.box(Int(1))}, []any{w.box(Weekday(1))}) || !reflect.DeepEqual([]any{w.box(Ints{1})}, []any{w.box(Ints{1})}) {
		t.Error("DeepEqual is wrong")
	}
}

func TestIDIsCanonical(t *testing.T) {
	w := newHarness(t)
	alias := types.NewAlias(types.NewTypeName(0, w.pkg, "Alias", nil), w.pkg.Scope().Lookup("Point").Type())
	for _, pair := range [][2]types.Type{
		{alias, w.pkg.Scope().Lookup("Point").Type()},
		{types.NewSlice(alias), w.typ(t, "[]Point").Type()},
		{types.NewMap(types.Typ[types.Byte], alias), w.typ(t, "map[uint8]Point").Type()},
	} {
		if w.ID(pair[0]) != w.ID(pair[1]) {
			t.Errorf("%v and %v have two descriptors", pair[0], pair[1])
		}
	}
	mentions := map[string]bool{
		"Point": true, "*Point": true, "[]map[string]Point": true, "func(Int)": true, "chan Text": true, "struct{ X int }": false, "struct{ x int }": true, "struct{ error }": true,
		"any": false, "interface{ M() }": true, "error": false, "func(int) error": false, "[]any": false, "Pair[int, int]": true, "func() Shape": true, "[3]int": false,
	}
	for expression, want := range mentions {
		if got := w.Mentions(w.typ(t, expression).Type()); got != want {
			t.Errorf("Mentions(%s) = %v", expression, got)
		}
	}
}
