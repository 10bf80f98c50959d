package lower_test

import (
	"errors"
	"go/ast"
	"testing"

	"github.com/quernlab/quern/interp/lower"
)

// TestCells runs sequences of cells: names of earlier cells, redefinition, results.
func TestCells(t *testing.T) {
	tests := []struct {
		name  string
		cells []string
		want  string
	}{
		{"variable of an earlier cell", []string{"x := 1", "func get() int { return x }", "x = 5", "get()"}, "= 5\n"},
		{"same type keeps the variable", []string{"x := 1", "func get() int { return x }", "x := 10", "get()"}, "= 10\n"},
		{"other type", []string{"x := 1", "x := \"s\"", "x + \"!\""}, "= s!\n"},
		{"declared again without a value", []string{"x := 7", "var x int", "x"}, "= 0\n"},
		{"function redefined", []string{"func f() int { return 1 }", "func g() int { return f() * 10 }", "func f() int { return 2 }", "g()"}, "= 20\n"},
		{"type redefined", []string{"type T struct{ a int }\nfunc (T) String() string { return \"old\" }", "type T struct{ b string }\nfunc (t T) String() string { return t.b }", "T{\"new\"}"}, "= new\n"},
		{"method in a later cell", []string{"type P struct{ X int }", "p := P{3}", "func (p P) String() string { return \"P!\" }", "p", "fmt.Println(p, &p)"}, "= P!\nP! P!\n"},
		{"generic of an earlier cell", []string{"func Map[T, U any](xs []T, f func(T) U) (r []U) { for _, x := range xs { r = append(r, f(x)) }; return }", "Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i, \"!\") })"}, "= [1! 2!]\n"},
		{"local names of lowered code are no globals", []string{"len := 3", "t, f, a0 := 1, 2, 3", "len + t + f + a0"}, "= 9\n"},
		{"shadowed package", []string{"strings := []int{1}", "strings[0]"}, "= 1\n"},
		{"several results", []string{"func two() (int, error) { return 4, nil }", "two()"}, "= 4\n= <nil>\n"},
		{"main and init are functions", []string{"func main() { fmt.Println(\"main\") }", "1"}, "main\n= 1\n"},
		{"several variables become nil", []string{"a, b := []int{1}, map[string]int{}", "a, b = nil, nil", "a == nil && b == nil"}, "= true\n"},
		{"goroutine of an earlier cell", []string{"ch, ch2 := make(chan int), make(chan int)", "go func() { for v := range ch { ch2 <- v * 2 } }()", "ch <- 4", "<-ch2"}, "= 8\n"},
		{"defer at the top level", []string{"defer fmt.Println(\"end\")\nfmt.Println(\"body\")", "1"}, "body\nend\n= 1\n"},
		{"pointer to a variable", []string{"type C struct{ n int }", "c := C{1}\np := &c", "c = C{20}", "p.n"}, "= 20\n"},
		{"dot import", []string{"import . \"strings\"", "ToUpper(\"x\")"}, "= X\n"},
		{"type of an internal package", []string{"stats := accel.Stats()\nm := map[string]any{\"a\": stats}", "var e *tensor.ShapeError", "errors.As(fmt.Errorf(\"w: %w\", &tensor.ShapeError{Op: \"add\"}), &e)", "e.Op + fmt.Sprint(len(m))"}, "= true\n= add1\n"},
		{"named result of an interface type", []string{"type S interface{ A() int }\ntype R struct{ n int }\nfunc (r R) A() int { return r.n }", "func mk(n int) (s S, err error) { if n > 0 { s = R{n} }; return }", "mk(3)"}, "= {3}\n= <nil>\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, out, err := runCells(t, tt.cells...)
			if err != nil || out != tt.want {
				t.Errorf("got\n%s\nwant\n%s\nerror %v\nlowered\n%s", out, tt.want, err, s.dump())
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	tests := []struct{ name, cell, want string }{
		{"address in a range over a function", "func f(seq func(func(int) bool)) (n uintptr) {\n\tfor i := range seq { n = uintptr(unsafe.Pointer(&i)) }\n\treturn\n}", "cell[1]:2:27: an address in the body of a range over a function is not supported in a cell"},
		{"type that instantiates itself", "import \"os\"\ntype S[T any] struct{ v T }\nfunc (s S[T]) Wrap() any { return S[S[T]]{} }\nS[int]{}", "cell[1]:2:6: a type argument of S that is nested so deeply is not supported in a cell; does it instantiate itself with more and more types?"},
		{"function that instantiates itself", "import \"os\"\nfunc f[T any](n int) { f[[]T](n - 1) }\nf[int](1)", "cell[1]:2:6: a type argument of f that is nested so deeply is not supported in a cell; does it instantiate itself with more and more types?"},
		{"type that instantiates itself with twice as many", "import \"os\"\ntype S[T any] struct{ v T }\nfunc (s S[T]) Wrap() any { return S[struct{ A, B T }]{} }\nS[int]{}", "cell[1]:2:6: a type argument of S that is nested so deeply is not supported in a cell; does it instantiate itself with more and more types?"},
		{"function without a body", "func f()", "cell[1]:1:1: a function without a body is not supported in a cell; its opening brace must be on the line where its header ends"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t)
			_, err := s.lower(tt.cell)
			var unsupported *lower.UnsupportedError
			if !errors.As(err, &unsupported) || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			// The session continues without the definitions of the cell.
			if err := s.run("y := 2\ny"); err != nil || s.output.String() != "= 2\n" {
				t.Errorf("after it: got %q, error %v", s.output, err)
			}
		})
	}
}

// TestNoSource uses generic functions and types of a compiled package whose source is not there.
func TestNoSource(t *testing.T) {
	for _, tt := range []struct{ cell, want string }{
		{"x := 1\nweak.Make(&x)", "cell[1]:2:6: the generic function weak.Make is not supported in a cell; its source is not part of the kernel"},
	} {
		s := newChecked(t, func(c *lower.Config) { c.Generic = func(string) (map[string]string, bool) { return nil, false } })
		if _, err := s.lower(tt.cell); err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// TestInternalError lowers a cell that the checker would never return.
func TestInternalError(t *testing.T) {
	s := newSession(t)
	cell, err := s.checker.Check(t.Context(), 1, "x := 1\nx++")
	if err != nil {
		t.Fatal(err)
	}
	cell.Body = append(cell.Body, &ast.BadStmt{From: cell.Body[1].Pos()})
	_, err = s.program.Lower(t.Context(), cell)
	var internal *lower.InternalError
	if !errors.As(err, &internal) {
		t.Fatalf("got %v, want an *InternalError", err)
	}
	if got, want := internal.Position.String(), "cell[1]:2:1"; got != want {
		t.Errorf("got position %s, want %s", got, want)
	}
}

// TestDiscard discards a unit: its names have their previous meaning again.
func TestDiscard(t *testing.T) {
	s := newSession(t)
	mustRun := func(cell string) {
		t.Helper()
		if err := s.run(cell); err != nil {
			t.Fatal(err)
		}
	}
	mustRun("func f() int { return 1 }\ntype T struct{ n int }\nfunc (t T) String() string { return \"T1\" }\nx := 1")
	cell, err := s.checker.Check(t.Context(), 50, "func f() int { return 2 }\nfunc (t T) String() string { return \"T2\" }\nfunc G[A any](a A) A { return a }\nx := G(\"s\")")
	if err != nil {
		t.Fatal(err)
	}
	unit, err := s.program.Lower(t.Context(), cell)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.program.Lower(t.Context(), cell); err == nil {
		t.Error("a unit was lowered while another was neither committed nor discarded")
	}
	s.program.Discard(unit)
	mustRun("x + f()")
	mustRun("func G[A any](a A) []A { return []A{a} }\nG(3)")
	if got, want := s.output.String(), "= 2\n= [3]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGoroutinePanic panics in goroutines that the cell or a compiled function starts. The session
// gets an error and continues.
func TestGoroutinePanic(t *testing.T) {
	for _, cell := range []string{
		"go func() { defer close(done); panic(\"lost\") }()",
		"go func(s string) { defer close(done); panic(s) }(\"lost\")",
		"func f(s string) { defer close(done); panic(s) }\ngo f(\"lost\")",
		"time.AfterFunc(0, func() { defer close(done); panic(\"lost\") })",
		"var wg sync.WaitGroup\nwg.Go(func() { defer close(done); panic(\"lost\") })\nwg.Wait()",
	} {
		t.Run(cell, func(t *testing.T) {
			s, _, err := runCells(t, "done := make(chan int)", cell, "<-done")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := <-s.lost, "cell 2: lost"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestXMLOfInterface passes encoding/xml values whose methods are found by their dynamic types.
func TestXMLOfInterface(t *testing.T) {
	const cell = `type L int
func (L) MarshalText() ([]byte, error) { return []byte("text"), nil }
type T struct{ A any; B interface{ MarshalText() ([]byte, error) } }
var x any = []L{1}
text, err := xml.Marshal(x)
fmt.Println(string(text), err)
text, err = xml.Marshal(T{L(1), L(2)})
fmt.Println(string(text), err)`
	if _, out, err := runCells(t, cell); err != nil || out != "<L>text</L> <nil>\n<T><A>text</A><B>text</B></T> <nil>\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
