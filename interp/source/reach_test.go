package source

import (
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// use checks a cell that imports package example.com/m/a and returns the parts that must run before
// it.
func use(t *testing.T, l *Loader, text string) []*Part {
	t.Helper()
	src := "package main\nimport \"example.com/m/a\"\nfunc cell() {\n" + text + "\n}\n"
	file, err := parser.ParseFile(l.fset, "cell", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := newInfo()
	config := types.Config{Importer: l}
	if _, err := config.Check("main", l.fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	return l.Needed(Code{Imports: []string{"example.com/m/a"}, Info: info, Nodes: []ast.Node{file.Decls[1]}})
}

// names returns the names of all declarations in parts: methods as T.M, initializers as v=.
func names(parts []*Part) string {
	var list []string
	for _, p := range parts {
		for _, s := range p.Specs {
			list = append(list, s.Name.Name)
		}
		for _, f := range p.Funcs {
			name := f.Name.Name
			if sig := p.Info.Defs[f.Name].Type().(*types.Signature); sig.Recv() != nil {
				recv := types.TypeString(sig.Recv().Type(), func(*types.Package) string { return "" })
				recv, _, _ = strings.Cut(strings.TrimPrefix(recv, "*"), "[")
				name = recv + "." + name
			}
			list = append(list, name)
		}
		for _, v := range p.Vars {
			list = append(list, v.Name())
		}
		for _, i := range p.Init {
			list = append(list, i.Lhs[0].Name()+"=")
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

const reachSource = `
-- a/a.go --
package a

import "example.com/m/b"

type T struct{ in inner }

func (T) M()  { viaM() }
func (T) Unused() {}

type inner struct{ *b.Deep }

func (inner) hidden() {}

type Alone int

func (Alone) String() string { return "" }

type Generic[E any] struct{ list []E }

func (g *Generic[E]) Add(e E) { g.list = append(g.list, e); viaAdd() }

type Number interface{ ~string | Alone }

type Doer interface{ Do(Param) Result }

type (
	Param  int
	Result struct{}
	Alias  = Param
)

func F() {}
func viaM() {}
func viaAdd() {}
func Make() (t *T) { return nil }
func Sum[N Number](list ...N) (sum N) { return add(list[0], sum) }
func add[N Number](a, b N) N { return a + b }
func Local() { type local struct{ a Alone }; _ = local{} }
func Calls() { F(); Recursive() }
func Recursive() { Calls() }
func Closure() func() { return func() { F() } }
func Takes(f func(Param)) {}
func Dead() { if debug { viaM() }; if !debug { F() } }
func Jumps() { if debug { again: viaAdd(); goto again }; if debug { viaM() } else { F() } }

const debug = false

var Waits = []int{1, 2}
var Refers = &Waits
var Function = F
var Method = T.M
var Literal = func() { viaM() }
var Both, Sides = pair()
var FromVariable = Waits
var Converted = Alone(3)

func pair() (int, int) { return 1, 2 }

const Constant Alone = 1
-- b/b.go --
package b

type Deep struct{}

func (*Deep) Promoted() { Helper() }
func Helper() {}
func Other() {}
`

// TestReach checks which parts of a package must run for a cell.
func TestReach(t *testing.T) {
	t.Parallel()
	// Initializers that run with the import: results of calls, and copies of variables.
	const always = "Both FromVariable Sides Waits pair Both= FromVariable= Waits="
	for _, row := range []struct{ cell, want string }{
		{"", ""},
		{"a.F()", "F"},
		{"a.Calls()", "Calls F Recursive"},
		{"_ = a.Closure", "Closure F"},
		{"a.Make()", "Make T inner Deep"},
		{"var t *a.T; _ = t", "T inner Deep"},
		{"_ = a.Constant", "Alone"},
		{"_ = a.Sum[string]", "Alone Number Sum add"},
		{"var g a.Generic[int]; _ = g", "Generic Generic.Add viaAdd"},
		{"var d a.Doer; _ = d", "Doer Param Result"},
		{"var x a.Alias; _ = x", "Alias Param"},
		{"a.Local()", "Alone Local"},
		{"a.Takes(nil)", "Param Takes"},
		{"a.Dead()", "Dead F"},
		{"a.Jumps()", "F Jumps viaAdd viaM"},
		{"_ = a.Waits", ""},
		{"_ = a.Refers", "Refers Refers="},
		{"_ = a.Function", "F Function Function="},
		{"a.Literal()", "Literal Literal= viaM"},
		{"_ = a.Converted", "Alone Converted Converted="},
		{"_ = a.Method", "Method Method= T T.M inner viaM Deep"},
	} {
		l, _ := newLoader(t, reachSource)
		want := strings.Fields(always + " " + row.want)
		slices.Sort(want)
		if got := names(use(t, l, "_ = a.Waits\n"+row.cell)); got != strings.Join(want, " ") {
			t.Errorf("%s\ngot  %s\nwant %s", row.cell, got, strings.Join(want, " "))
		}
	}
}

// TestConversions checks that a type whose values are converted to an interface is dispatched, as are its component types,
// and that other types are not. The methods wait until they are called.
func TestConversions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		cell       string
		dispatched bool
	}{
		{"_ = any(a.Make())", true},
		{"var i any = a.Make(); _ = i", true},
		{"var i any; i = a.Make(); _ = i", true},
		{"_ = []any{a.Make()}", true},
		{"_ = [...]any{1: a.Make()}", true},
		{"_ = map[any]any{1: a.Make()}", true},
		{"_ = map[any]int{a.Make(): 1}", true},
		{"_ = struct{ x any }{a.Make()}", true},
		{"_ = struct{ x any }{x: a.Make()}", true},
		{"_ = [][]any{{a.Make()}}", true},
		{"_ = []*struct{ x any }{{a.Make()}}", true},
		{"make(chan any, 1) <- a.Make()", true},
		{"select { case make(chan any, 1) <- a.Make(): default: }", true},
		{"_ = map[any]int{}[a.Make()]", true},
		{"delete(map[any]int{}, a.Make())", true},
		{"_ = append([]any{}, 1, a.Make())", true},
		{"panic(a.Make())", true},
		{"println(a.Make())", true},
		{"func(any) {}(a.Make())", true},
		{"func(...any) {}(1, a.Make())", true},
		{"defer func(any) {}(a.Make())", true},
		{"go func(int, any) {}(1, a.Make())", true},
		{"func(any, error) {}(func() (*a.T, error) { return nil, nil }())", true},
		{"func(int, ...any) {}(func() (int, int, *a.T) { return 0, 0, nil }())", true},
		{"var i any; var e error; i, e = func() (*a.T, error) { return nil, nil }(); _, _ = i, e", true},
		{"var i any; e, i := func() (error, *a.T) { return nil, nil }(); _, _ = i, e", true},
		{"var i any; i, _ = map[int]*a.T{}[0]; _ = i", true},
		{"var i any; i, _ = <-make(chan *a.T); _ = i", true},
		{"var i, e any = func() (*a.T, error) { return nil, nil }(); _, _ = i, e", true},
		{"_ = func() any { return a.Make() }", true},
		{"_ = func() (i any, e error) { return func() (*a.T, error) { return nil, nil }() }", true},
		{"_ = func() any { _ = func() *a.T { return a.Make() }; return nil }", false},
		{"_ = func() *a.T { _ = func() any { return a.Make() }; return nil }", true},
		{"_ = any(nil) == a.Make()", true},
		{"_ = a.Make() != any(nil)", true},
		{"var i any; switch i { case 1, a.Make(): }", true},
		{"var i any; switch a.Make() { case i: }", true},
		{"var i any; for _, i = range []*a.T{nil} {}; _ = i", true},
		{"var i any; for i = range map[*a.T]int{} {}; _ = i", true},
		{"var i any; for i = range func(func(*a.T) bool) {} {}; _ = i", true},
		{"var i any; switch y := i.(type) { case *a.T: i = y }", true},
		{"_ = any([]a.T{})", true},
		{"_ = any(map[string]**a.T{})", true},
		{"_ = any(map[a.T]int{})", true},
		{"_ = any(make(chan [2]a.T))", true},
		{"_ = any(func(a.T) {})", true},
		{"_ = any(func() (_ *a.T) { return })", true},
		{"_ = any(struct{ x *a.T }{})", true},
		{"_ = any((interface{ M(*a.T) })(nil))", false},
		{"_ = any((*interface{ M(*a.T) })(nil))", true},
		{"type own struct{ *a.T }; _ = own{}", true},
		{"type own struct{ x a.T }; _ = own{}", true},
		{"a.Make()", false},
		{"t := a.Make(); t = a.Make(); _ = *t", false},
		{"t := a.Make(); _ = t == nil || t != a.Make()", false},
		{"_ = append([]*a.T{}, a.Make())", false},
		{"_ = map[int][]*a.T{1: {a.Make()}}[1]", false},
		{"_ = func(t *a.T) *a.T { return t }(a.Make())", false},
		{"make(chan *a.T, 1) <- a.Make()", false},
		{"for _, t := range []*a.T{nil} { _ = t }", false},
		{"switch a.Make() { case nil: }", false},
		{"var i any; t, ok := i.(*a.T); _, _ = t, ok", false},
		{"var i any; switch i.(type) { case *a.T: }", false},
		{"_ = struct{ t *a.T }{a.Make()}", false},
		{"_ = any(1)", false},
	} {
		l, _ := newLoader(t, reachSource)
		parts := use(t, l, row.cell+"\n_ = a.Waits")
		var dispatched []string
		for _, p := range parts {
			for _, d := range p.Dispatched {
				dispatched = append(dispatched, d.Obj().Name())
			}
		}
		for _, name := range []string{"T", "inner", "Deep"} {
			if slices.Contains(dispatched, name) != row.dispatched {
				t.Errorf("%s: %s is dispatched: %v, want %v", row.cell, name, !row.dispatched, row.dispatched)
			}
		}
		got := " " + names(parts) + " "
		for _, method := range methodsOfT {
			if strings.Contains(got, " "+method+" ") {
				t.Errorf("%s: %s is reached", row.cell, method)
			}
		}
	}
}

// methodsOfT are the methods of the types that a.T consists of.
var methodsOfT = []string{"T.M", "T.Unused", "Deep.Promoted", "inner.hidden"}

// TestTypeArguments: generic code calls methods of its type arguments by name, so they are reached at once.
func TestTypeArguments(t *testing.T) {
	t.Parallel()
	for _, cell := range []string{
		"_ = a.Generic[*a.T]{}",
		"var g *a.Generic[[]a.T]; _ = g",
		"a.Call[a.T]()",
		"a.Call(map[string]*a.T{})",
	} {
		l, _ := newLoader(t, reachSource+"\n-- a/call.go --\npackage a\n\nfunc Call[E any](...E) {}\n")
		got := " " + names(use(t, l, cell+"\n_ = a.Waits")) + " "
		for _, method := range methodsOfT {
			if !strings.Contains(got, " "+method+" ") {
				t.Errorf("%s: %s is not reached", cell, method)
			}
		}
	}
}

// TestNeededMethod: a method and what it uses are needed when an interface calls it for the first time, and not again.
func TestNeededMethod(t *testing.T) {
	t.Parallel()
	l, _ := newLoader(t, reachSource)
	parts := use(t, l, "_ = any(a.Make())")
	for _, p := range parts {
		l.Compiled(p)
	}
	typ := l.loaded["example.com/m/a"].types.Scope().Lookup("T").Type().(*types.Named)
	m, _, _ := types.LookupFieldOrMethod(typ, true, nil, "M")
	parts = l.NeededMethod(m.(*types.Func))
	if got := names(parts); got != "T.M viaM" {
		t.Fatalf("got %s", got)
	}
	l.Compiled(parts[0])
	l.Drop(parts) // it did not run
	if parts = l.NeededMethod(m.(*types.Func)); names(parts) != "T.M viaM" {
		t.Fatalf("after an error: got %s", names(parts))
	}
	l.Compiled(parts[0])
	if parts = l.NeededMethod(m.(*types.Func)); len(parts) > 0 {
		t.Errorf("again: got %s", names(parts))
	}
}

// TestReachLater checks that a later cell gets the remaining declarations, none twice, and that it
// gets a part again that could not run.
func TestReachLater(t *testing.T) {
	t.Parallel()
	l, _ := newLoader(t, reachSource)
	for _, row := range []struct {
		cell, want string
		fails      bool
	}{
		{"_ = a.Waits", "Both Both= FromVariable FromVariable= Sides Waits Waits= pair", false},
		{"a.F()", "F", true},
		{"a.F()", "F", false},
		{"a.Calls()", "Calls Recursive", false},
		{"a.Calls(); a.F()", "", false},
		{"_ = a.Refers; _ = a.Both", "Refers Refers=", false},
	} {
		parts := use(t, l, row.cell)
		if got := names(parts); got != row.want {
			t.Errorf("%s: got %s, want %s", row.cell, got, row.want)
		}
		if row.fails {
			l.Drop(parts)
			continue
		}
		for _, p := range parts {
			l.Compiled(p)
		}
	}
}

// TestCanWait checks which initializers run with the import of their package.
func TestCanWait(t *testing.T) {
	t.Parallel()
	l, _ := newLoader(t, "")
	for _, row := range []struct {
		value string
		want  bool
	}{
		{"1", true},
		{"-1 << 3", true},
		{"len(\"abc\")", true},
		{"[]int{1, 2: 3}", true},
		{"map[string][]int{\"a\": {1}}", true},
		{"map[any]int{\"a\": 1}", false},
		{"struct{ a, b any }{1, nil}", true},
		{"&struct{ a int }{a: 1}", true},
		{"&other", true},
		{"new(int)", true},
		{"any(nil)", true},
		{"error(&failure{})", true},
		{"[]byte(\"abc\")", true},
		{"failure.Error", true},
		{"generic[int]", true},
		{"strings.ToUpper", true},
		{"func() int { return call() }", true},
		{"(*failure)(nil)", true},
		{"errors.New(\"a\")", true},
		{"(errors.New)(\"a\" + \"b\")", true},
		{"errors.New(text)", false},
		{"error(errors.New(\"a\"))", true},
		{"mine.New(\"a\")", false},
		{"other", false},
		{"other + 1", false},
		{"call()", false},
		{"func() int { return 1 }()", false},
		{"[]int{other}", false},
		{"[]int{call()}", false},
		{"strings.ToUpper(\"a\")", false},
		{"strings.NewReader(\"\").Len", false},
		{"[2]int([]int{1})", false},
		{"[]int{1}[:]", false},
		{"list[0]", false},
		{"*pointer", false},
		{"<-channel", false},
		{"failure{}.Error", false},
		{"any(1).(int)", false},
		{"make([]int, 3)", false},
		{"len(list)", false},
		{"[...]int{1, 2}[0]", false},
	} {
		src := "package p\nimport (\"strings\"; \"errors\")\nvar _, _ = strings.ToUpper, errors.New\nvar text string\nvar mine struct{ New func(string) error }\nvar other = 1\nvar list []int\nvar pointer *int\nvar channel chan int\n" +
			"type failure struct{}\nfunc (failure) Error() string { return \"\" }\nfunc generic[T any]() {}\nfunc call() int { return 1 }\nvar x = " + row.value + "\n"
		file, err := parser.ParseFile(l.fset, "p.go", src, 0)
		if err != nil {
			t.Fatal(row.value, err)
		}
		info := newInfo()
		config := types.Config{Importer: l}
		if _, err := config.Check("p", l.fset, []*ast.File{file}, info); err != nil {
			t.Fatal(row.value, err)
		}
		for _, init := range info.InitOrder {
			if init.Lhs[0].Name() == "x" {
				if got := canWait(&loadedPackage{info: info}, init); got != row.want {
					t.Errorf("%s: %v, want %v", row.value, got, row.want)
				}
			}
		}
	}
}
