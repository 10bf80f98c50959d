package check

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"testing"
)

func TestRedefine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in string
		carried  string // names in the last cell, separated by spaces
		broken   string // errors of the last cell, one per line
	}{
		{"caller is carried", "func f() int { return 1 }\n---\nfunc g() int { return f() * 10 }\n---\nfunc f() int { return 2 }", "g", ""},
		{"callers of callers", "func f() int { return 1 }\nfunc g() int { return f() }\n---\nfunc h() int { return g() }\n---\nfunc f() int { return 2 }", "g h", ""},
		{"signature changed", "func f() int { return 1 }\n---\nfunc g() int { return f() * 10 }\n---\nfunc f(a int) string { return \"s\" }", "g",
			"cell[2]:1:25: g: not enough arguments in call to f\n\thave ()\n\twant (int)"},
		{"repaired", "func f() int { return 1 }\n---\nfunc g() int { return f() * 10 }\n---\nfunc f(a int) string { return \"s\" }\n---\nfunc f() int { return 3 }", "g", ""},
		{"constant", "const N = 3\n---\nfunc a() [N]int { return [N]int{} }\n---\nconst N = 4", "a", ""},
		{"type with methods and users", "type T struct{ a int }\nfunc (t T) Get() int { return t.a }\n---\nfunc mk() T { return T{1} }\n---\ntype T struct{ a, b int }", "T.Get mk",
			"cell[2]:1:25: mk: too few values in struct literal of type T"},
		{"type inside a type", "type A struct{ n int }\n---\ntype B struct{ a A }\n---\ntype A struct{ n string }", "B", ""},
		{"same variable", "x := 1\nfunc get() int { return x }\n---\nx := 2", "", ""},
		{"other type of variable", "x := 1\nfunc twice() any { return x + x }\n---\nx := \"a\"", "twice", ""},
		{"type word for word is kept", "type T struct{ a int }\nfunc (t T) Get() int { return t.a }\nfunc mk() T { return T{1} }\n---\ntype T struct{ a int }\nfunc (t T) Get() int { return t.a }", "", ""},
		{"generic type, method changed", "type S[T any] struct{ v T }\nfunc (s S[T]) Get() T { return s.v }\nfunc mk() S[int] { return S[int]{1} }\n---\ntype S[T any] struct{ v T }\nfunc (s S[T]) Get() T { var z T; return z }", "", ""},
		{"generic type, method that is used changed", "type S[T any] struct{ v T }\nfunc (s S[T]) Get() T { return s.v }\nfunc use() int { return S[int]{1}.Get() }\n---\ntype S[T any] struct{ v T }\nfunc (s S[T]) Get() T { var z T; return z }", "use", ""},
		{"function of a method", "func f() int { return 1 }\n---\ntype T struct{}\nfunc (T) M() int { return f() }\n---\nfunc f() int { return 2 }", "T.M", ""},
		{"method of a generic type", "func f() int { return 1 }\n---\ntype T[E any] struct{}\nfunc (T[E]) M() int { return f() }\n---\nfunc f() int { return 2 }", "T.M", ""},
		{"type becomes variable", "type T struct{}\nfunc (T) M() {}\n---\nT := 1", "", ""},
		{"dependant uses another one", "type T struct{ a int }\ntype E struct{ T }\nfunc k() *E { return &E{} }\nfunc h(t T) { k().T = t }\n---\ntype T struct{ a, b int }", "E k h", ""},
		{"dependant used by the cell itself", "type T struct{ a int }\nfunc use(t T) int { return 1 }\n---\ntype T struct{ b string }\nx := use(T{\"x\"})", "use", ""},
		{"dependant of a dependant used by the cell itself", "type T struct{ a int }\ntype E struct{ T }\nfunc mk() E { return E{} }\n---\ntype T struct{ b []int }\nvar x []int = mk().b", "E mk", ""},
		{"import hides a function", "func sort() {}\n---\nimport \"sort\"", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			cell := run(t, newTestChecker(), cells(row.in)...)
			if got := strings.Join(cell.Carried, " "); got != row.carried {
				t.Errorf("carried %q, want %q", got, row.carried)
			}
			var broken []string
			for _, e := range cell.Broken {
				broken = append(broken, e.Error())
			}
			if got := strings.Join(broken, "\n"); got != row.broken {
				t.Errorf("broken\n%s\nwant\n%s", got, row.broken)
			}
		})
	}
}

func TestLaterMethods(t *testing.T) {
	t.Parallel()
	c := newTestChecker()
	run(t, c, "type P struct{ X int }\np := P{3}")
	if _, err := c.Check(t.Context(), 2, "func (p P) String() string { return undefinedThing }"); err == nil {
		t.Fatal("a wrong method was accepted")
	}
	if _, err := c.Check(t.Context(), 3, "p.String()"); err == nil {
		t.Fatal("the method of a failed cell still exists")
	}
	cell, err := c.Check(t.Context(), 4, "func (p P) String() string { return \"P!\" }\ns := p.String()\nvar _ fmt.Stringer = p")
	if err != nil {
		t.Fatal(err)
	}
	c.Discard(cell)
	if _, err := c.Check(t.Context(), 5, "p.String()"); err == nil {
		t.Fatal("the method of a discarded cell still exists")
	}
	if cell, err = c.Check(t.Context(), 6, "func (p P) String() string { return \"P!\" }\nfunc (p *P) Set(x int) { p.X = x }"); err != nil {
		t.Fatal(err)
	}
	c.Commit(cell)
	for _, f := range cell.Funcs {
		m, ok := cell.Info.Defs[f.Name].(*types.Func)
		if !ok || f.Recv == nil || m.Signature().Recv() == nil {
			t.Errorf("%s is not a method: %v", f.Name.Name, m)
		}
	}
	run(t, c, "p.Set(4)\np.String()", "func show() string { return p.String() }")
	if cell, err = c.Check(t.Context(), 9, "func (p P) String() string { return \"new\" }"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cell.Carried); got != "[show]" {
		t.Errorf("carried %s, want [show]", got)
	}
	c.Commit(cell)
	for _, row := range [][2]string{
		{"func (p P) X() {}", "cell[20]:1:12: field and method with the same name X"},
		{"type Q int\nfunc (p P) M(q Q) {}", "cell[20]:2:16: the method M of P, a type of an earlier cell, mentions Q, which this cell declares: declare Q in a cell before this one"},
		{"func (p P) M() {}\nfunc (p *P) M() {}", "cell[20]:2:13: method P.M already declared at cell[20]:1:12"},
	} {
		_, err := c.Check(t.Context(), 20, row[0])
		if err == nil || err.Error() != row[1] {
			t.Errorf("%q: got %v, want %s", row[0], err, row[1])
		}
	}
}

// TestTypesInternals checks what this package requires of go/types: a package remains usable
// after its scope is emptied in place, the method list of a named type can be replaced, and that
// of an instance can be created again.
func TestTypesInternals(t *testing.T) {
	t.Parallel()
	field, ok := reflect.TypeOf(types.Named{}).FieldByName("methods")
	if !ok || field.Type != reflect.TypeOf([]*types.Func(nil)) {
		t.Fatalf("types.Named has no methods []*Func: %v", field.Type)
	}
	for _, f := range []struct {
		of         reflect.Type
		name, want string
	}{
		{reflect.TypeFor[types.Named](), "state_", "uint32"},
		{reflect.TypeFor[types.Named](), "inst", "*types.instance"},
		{reflect.TypeFor[types.Signature](), "rparams", "*types.TypeParamList"},
		{reflect.TypeFor[types.Signature](), "scope", "*types.Scope"},
		{reflect.TypeFor[types.Var](), "parent", "*types.Scope"},
		{reflect.TypeFor[types.Context](), "typeMap", "map[string][]types.ctxtEntry"},
	} {
		if field, ok := f.of.FieldByName(f.name); !ok || field.Type.String() != f.want {
			t.Errorf("%s has no field %s %s", f.of, f.name, f.want)
		}
	}
	c := newTestChecker()
	scope := c.pkg.Scope()
	run(t, c, "type P struct{ x int }\ntype G[T any] struct{ v P }\np := P{1}\ng := G[int]{p}")
	if c.pkg.Scope() != scope {
		t.Error("the scope has another address")
	}
	run(t, c, "p.x + g.v.x", "g = G[int]{P{2}}", "var h G[string]", "type P struct{ y string }", "p.x")
	if len(scope.Names()) == 0 {
		t.Error("the scope is empty after a check")
	}
}

func TestFailedCellLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newTestChecker()
	run(t, c, "x := 1")
	types, live := len(c.info.Types), len(c.live)
	for _, src := range []string{"y := undefined", "x := \"a\"\nz := nope", "func f( {", "type T struct{ u U }"} {
		if _, err := c.Check(t.Context(), 2, src); err == nil {
			t.Fatalf("%q was accepted", src)
		}
	}
	if len(c.info.Types) != types || len(c.live) != live {
		t.Errorf("%d facts and %d names, want %d and %d", len(c.info.Types), len(c.live), types, live)
	}
	run(t, c, "x + 1")
}

func TestOlderType(t *testing.T) {
	t.Parallel()
	const hint = "\n\tT was redefined by cell[%d]: run the cell that made the value again"
	for _, row := range []struct {
		name, in, want string
		cell           int // the cell in the hint, 0 for no hint
	}{
		{"assignment", "type T struct{ a int }\nt := T{1}\n---\ntype T struct{ a, b int }\n---\nt = T{1, 2}", "cell[3]:1:5: cannot use T{…} (value of struct type T) as T value in assignment", 2},
		{"slice", "type T struct{ a int }\nl := []*T{}\n---\ntype T struct{ a, b int }\nfunc f(l []*T) {}\n---\nf(l)", "cell[3]:1:3: cannot use l (variable of type []*T) as []*T value in argument to f", 2},
		{"map", "type T struct{ a int }\nm := map[string]T{}\n---\ntype T struct{ a, b int }\nfunc f(m map[string]T) {}\n---\nf(m)", "cell[3]:1:3: cannot use m (variable of type map[string]T) as map[string]T value in argument to f", 2},
		{"comparison", "type T struct{ a int }\nt := T{1}\n---\ntype T struct{ a, b int }\n---\nu := T{1, 2}\nt == u", "cell[3]:2:6: invalid operation: t == u (mismatched types T and T)", 2},
		{"field", "type T struct{ a int }\nt := T{1}\n---\ntype T struct{ a, b int }\n---\nt.b", "cell[3]:1:3: t.b undefined (type T has no field or method b)", 2},
		{"method", "type T struct{ a int }\nt := &T{1}\n---\ntype T struct{ a, b int }\nfunc (t *T) M() {}\n---\nt.M()", "cell[3]:1:3: t.M undefined (type *T has no field or method M)", 2},
		{"the cell itself redefines", "type T struct{ a int }\nfunc f(t T) {}\nt := T{1}\n---\ntype T struct{ a, b int }\nf(t)", "cell[2]:2:3: cannot use t (variable of struct type T) as T value in argument to f", 2},
		{"conversion to an interface", "type T struct{ a int }\nt := T{1}\n---\ntype T interface{ M() }\n---\nT(t)", "cell[3]:1:3: cannot convert t (variable of struct type T) to type T: T does not implement T (missing method M)", 2},
		{"conversion to a struct", "type T interface{ M() }\nvar t T\n---\ntype T struct{ a int }\n---\nT(t)", "cell[3]:1:3: cannot convert t (variable of interface type T) to type T", 2},
		{"assertion on a struct that was replaced by an interface", "type T struct{ a int }\nt := T{1}\n---\ntype T interface{ M() }\n---\nt.(T)", "cell[3]:1:1: invalid operation: t (variable of struct type T) is not an interface", 2},
		{"call of a struct that was replaced by a function", "type T struct{ a int }\nt := T{1}\n---\ntype T func()\n---\nt()", "cell[3]:1:1: invalid operation: cannot call t (variable of struct type T): T is not a function", 2},
		{"loop over a struct that was replaced by a slice", "type T struct{ a int }\nt := &T{1}\n---\ntype T []int\n---\nfor range t {}", "cell[3]:1:11: cannot range over t (variable of type *T)", 2},
		{"assertion on a new struct", "type T interface{ M() }\n---\ntype T struct{ a int }\nt := T{1}\n---\nt.(T)", "cell[3]:1:1: invalid operation: t (variable of struct type T) is not an interface", 0},
		{"no field in either", "type T struct{ a int }\nt := T{1}\n---\ntype T struct{ a, b int }\n---\nt.c", "cell[3]:1:3: t.c undefined (type T has no field or method c)", 0},
		{"no other type", "type T struct{ a int }\nt := T{1}\n---\nt.b", "cell[2]:1:3: t.b undefined (type T has no field or method b)", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newTestChecker()
			list := cells(row.in)
			run(t, c, list[:len(list)-1]...)
			_, err := c.Check(t.Context(), len(list), list[len(list)-1])
			want := row.want
			if row.cell > 0 {
				want += fmt.Sprintf(hint, row.cell)
			}
			if err == nil || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
}

func TestHiddenPackage(t *testing.T) {
	t.Parallel()
	const hint = "\n\tstrings is a variable of an earlier cell: import \"strings\" in a cell to use the package"
	for _, row := range []struct{ before, in, want string }{
		{"strings := 5", "strings.ToUpper(\"a\")", "cell[2]:1:9: strings.ToUpper undefined (type int has no field or method ToUpper)" + hint},
		{"strings := 5", "strings.Nothing(\"a\")", "cell[2]:1:9: strings.Nothing undefined (type int has no field or method Nothing)"},
		{"strings := 5", "strings := 6\nstrings.ToUpper(\"a\")", "cell[2]:2:9: strings.ToUpper undefined (type int has no field or method ToUpper)\n\tstrings hides package \"strings\" in this cell: rename the variable, or import the package under another name, such as import stringspkg \"strings\""},
		{"words := 5", "words.ToUpper(\"a\")", "cell[2]:1:7: words.ToUpper undefined (type int has no field or method ToUpper)"},
	} {
		c := newTestChecker()
		run(t, c, row.before)
		if _, err := c.Check(t.Context(), 2, row.in); err == nil || err.Error() != row.want {
			t.Errorf("%q: got %v\nwant %s", row.in, err, row.want)
		}
	}
}
