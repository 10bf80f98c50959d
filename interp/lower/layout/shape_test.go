package layout

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// declared type-checks a package and returns a function that returns its types by name.
func declared(t *testing.T, source string) func(name string) *types.Named {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", "package main\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("main", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) *types.Named { return pkg.Scope().Lookup(name).Type().(*types.Named) }
}

// TestTypeAgain checks that recursive types that are declared again get the same reflect types, and only those with the
// same shape.
func TestTypeAgain(t *testing.T) {
	b := newBuilder()
	made := func(lookup func(string) *types.Named, name string) reflect.Type {
		t.Helper()
		typ, err := b.Type(lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	first, again := checked(t, standard), checked(t, importer.ForCompiler(token.NewFileSet(), "source", nil))
	for _, name := range []string{
		"Node", "List", "Elem", "A", "B", "C", "Ring", "Holder2", "Machine", "Slice", "Map", "Pointer", "Chan", "Array", "Visitor", "Rule", "Literal", "One", "Two",
	} {
		// The standard library is checked from source, so types.Type of time.Time differs each time; the compiled type is the same.
		if x, y := made(first, name), made(again, name); x != y {
			t.Errorf("%s: got another type", name)
		}
	}
	base := "type N struct { a *N; b int }"
	n := made(declared(t, base), "N")
	for _, other := range []string{
		"type N struct { a *N; b int8 }", "type N struct { a *N; c int }", "type N struct { a **N; b int }", "type N struct { b int; a *N }",
		"type N struct { a []N; b int }", "type N struct { a [1]*N; b int }", "type N struct { a *N \"k:\\\"v\\\"\"; b int }", "type N struct { A *N; b int }",
		"type N struct { a chan N; b int }", "type N struct { a chan<- N; b int }", "type N struct { a func(N); b int }", "type N struct { a func() N; b int }",
		"type N struct { a func(...N); b int }", "type N struct { a func([]N); b int }", "type M struct { a *N }; type N struct { a *M; b int }",
		"type N struct { a *struct { a *N; b int }; b int }", "type N struct { a map[int]N; b int }", "type N struct { a map[int8]N; b int }",
	} {
		if got := made(declared(t, other), "N"); got == n || n != made(declared(t, base), "N") {
			t.Errorf("%s and %s have one type", base, other)
		}
	}
}

// TestSharedParts checks that a type is created once, however many types contain it: there are 2^9 paths to T0.
func TestSharedParts(t *testing.T) {
	var source strings.Builder
	source.WriteString("type T0 struct { n int }\n")
	for i := range 9 {
		before, name := strconv.Itoa(i), strconv.Itoa(i+1)
		source.WriteString("type T" + name + " struct { a, b []T" + before + " }\n")
	}
	b, asked := newBuilder(), 0
	interpreted := b.Interpreted
	b.Interpreted = func(n *types.Named) bool {
		asked++
		return interpreted(n)
	}
	if _, err := b.Reflect(declared(t, source.String())("T9")); err != nil {
		t.Fatal(err)
	}
	if asked > 500 {
		t.Errorf("%d types were visited, of 10", asked)
	}
}
