package interp_test

import (
	"strings"
	"testing"
)

// shapes is a package whose methods are called through interfaces, promoted, by reflection, and on several goroutines.
const shapes = `package shapes

import ("reflect"; "strings"; "sync"; "unsafe")

type Shape interface { Area() int; Name() string }

type Square struct{ Side int }

func (s Square) Area() int { return s.Side * area }
func (s Square) Name() string { return kind.of("square") }
func (s *Square) Grow(by int) { s.Side += by }
func (s Square) Unused() { var p *Square; p.Side++ }

type naming struct{ prefix string }

func (n naming) of(name string) string { return n.prefix + strings.ToUpper(name) }

var area, kind = 2, naming{"a "}

type Named struct{ *Square; Label string }

func (n Named) Name() string { return n.Label }

func All(list ...Shape) (text string) {
	for _, s := range list { text += s.Name() + " " }
	return text
}

var order []string

type step string

func (s step) run() { order = append(order, string(s)) }

type runner interface{ run() }

func init() { runner(step("init")).run() }

func Order() string { return strings.Join(order, " ") }

func Concurrent() int {
	var wait sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		wait.Go(func() { var g interface{ Twice() int } = number(i); sums[i] = g.Twice() })
	}
	wait.Wait()
	sum := 0
	for _, s := range sums { sum += s }
	return sum
}

type unsupported int

func (unsupported) Word() any {
	var n uintptr
	for i := range func(func(int) bool) {} {
		n = uintptr(unsafe.Pointer(&i))
	}
	return n
}

func Unsupported() any { return unsupported(1) }

type number int

func (n number) Twice() int { return 2 * int(n) }

func Grow(x any) int {
	reflect.ValueOf(x).MethodByName("Grow").Call([]reflect.Value{reflect.ValueOf(3)})
	return x.(*Square).Side
}
`

// TestFirstCall: methods of packages that no code names are compiled when an interface or package reflect calls them, also
// in initializers and by several goroutines at once. Evaluations may call them, too.
func TestFirstCall(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/shapes@v1.0.0/go.mod":    "module example.com/shapes\n",
		"example.com/shapes@v1.0.0/shapes.go": shapes,
	}))
	n.must(t, "%get example.com/shapes@v1.0.0\nimport \"example.com/shapes\"", "example.com/shapes v1.0.0\n")
	for _, row := range []struct{ in, want string }{
		{"shapes.Order()", "= \"init\""},
		{"shapes.All(shapes.Square{2}, shapes.Named{&shapes.Square{3}, \"n\"})", "= \"a SQUARE n \""},
		{"var s shapes.Shape = shapes.Named{&shapes.Square{3}, \"n\"}; s.Area()", "= 6"},
		{"type own struct{ shapes.Square }; var i interface{ Area() int } = own{shapes.Square{5}}; i.Area()", "= 10"},
		{"shapes.Grow(&shapes.Square{4})", "= 7"},
		{"shapes.Concurrent()", "= 56"},
		{"func name[S shapes.Shape](s S) string { return s.Name() }; name(shapes.Square{1})", "= \"a SQUARE\""},
		{"shapes.Square.Area(shapes.Square{2})", "= 4"},
		{"_, ok := any(shapes.Square{}).(interface{ Unused() }); ok", "= true"},
		{"any(shapes.Square{}).(interface{ Unused() }).Unused()", "! runtime error: invalid memory address or nil pointer dereference"},
		{"shapes.Unsupported().(interface{ Word() any }).Word()", "the method Word of shapes.unsupported cannot be called: package example.com/shapes cannot be interpreted"},
		{"s.Area()", "= 6"},
	} {
		if got := n.run(row.in); !strings.Contains(got, row.want) {
			t.Errorf("%s\ngot  %s\nwant %s", row.in, got, row.want)
		}
	}
}
