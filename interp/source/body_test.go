package source

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"
)

// difficult has functions whose bodies could get other facts when they are checked after their package.
const difficult = `package difficult

import ("errors"; "fmt"; str "strings")

type node struct{ next *node; value int }

func shadows(string int, len func() int) (r []byte, err error) {
	fmt := string + len()
	r = append(r, byte(fmt))
	return r, errors.New("")
}

// Parameters and results are in the same scope as the body.
func assigns(s string, r int) (err error) {
	s, n := s[1:], r
	s, err, m := s+fmt.Sprint(n), err, 1
	_ = m
	return
}
func (n *node) replaces(int, string) { n, value := n.next, n.value; _ = value; _ = n }
func (*node) none(s string) { s, more := "a", s; _, _ = s, more }

func results(n int) (int int, error error) {
	defer func() { int++ }()
	if n > 0 {
		n, error := n, errors.New("shadow")
		_, _ = n, error
	} else {
		return
	}
	for int = range 3 { if int == 1 { continue } }
	return int + 1, error
}

func (n *node) sum(_ int, more ...*node) (total int) {
	total = n.value
	for _, m := range more { total += m.sum(0, more[1:]...) }
	func() { total *= 2 }()
	return
}

func (node) unnamed() (struct{ a int }, interface{ M() }) { return struct{ a int }{1}, nil }
func (n node) literal(x struct{ a, b int }) (y struct{ a int }) { y.a = x.a + n.value; return }

func labels(list [][]int) (found *node) {
outer:
	for i, row := range list {
		for _, x := range row {
			switch {
			case x < 0: continue outer
			case x > i: break outer
			}
			goto next
		}
	next:
		found = &node{found, i}
	}
	return found
}

func local() (list any) {
	const (a = iota << 1; b)
	type pair[T any] struct{ x, y T }
	type alias = pair[int]
	switch v := list.(type) {
	case nil: return pair[int]{a, b}
	case string, []byte: return v
	case alias: return v.x
	}
	return str.Repeat("x", b)
}

func generic[T ~int | ~string](x T) (y T) { y = x; return y + x }
func instances() (int, string) { f := generic[string]; return generic(2), f("a") }

type list[T any] struct{ items []T }
func (l *list[T]) add(x T) (same *list[T]) { l.items = append(l.items, x); same = l; return }

func channels(c chan int, done <-chan struct{}) (n int, ok bool) {
	select {
	case n, ok = <-c:
	case <-done:
	case c <- 1: n := 2; _ = n
	}
	return
}

func init() { results(1); new(node).sum(0) }
var table = map[string]func(int) (int, error){"a": results}
var method, value = (*node).sum, first()
func first() int { return second() }
func second() int { return third }
var third = len(table)

type base struct{}
func (base) late() int { return last }
type derived struct{ base }
var early = func() int { return derived{}.late() }()
var last = third + 1
`

// TestBodies checks that functions whose bodies are checked after their package have the same facts as with it.
func TestBodies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"difficult", "text/template/parse", "regexp/syntax", "text/tabwriter", "encoding/csv"} {
		t.Run(name, func(t *testing.T) {
			once, onceFset := checkStandard(t, library, name, false)
			later, laterFset := checkStandard(t, library, name, true)
			if len(later.bodies) == 0 {
				t.Fatal("all bodies were checked with the package")
			}
			for f := range later.bodies {
				if err := later.checkBody(laterFset, f); err != nil {
					t.Fatal(err)
				}
			}
			if len(later.bodies) > 0 || once.bodies != nil {
				t.Errorf("%d bodies remain, and %d", len(later.bodies), len(once.bodies))
			}
			want, got := describe(once, onceFset), describe(later, laterFset)
			for i := range min(len(want), len(got)) {
				if got[i] != want[i] {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
			if len(got) != len(want) || len(got) == 0 {
				t.Errorf("%d facts, want %d", len(got), len(want))
			}
		})
	}
}

// checkStandard checks a package of the standard library, or difficult.
func checkStandard(t *testing.T, compiled types.Importer, name string, later bool) (*loadedPackage, *token.FileSet) {
	t.Helper()
	fset := token.NewFileSet()
	l := NewLoader(compiled, fset, &modules{})
	var files []*ast.File
	add := func(name string, text any) {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if name == "difficult" {
		add("difficult.go", difficult)
	} else {
		found, err := build.Import(name, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.GoFiles {
			add(filepath.Join(found.Dir, f), nil)
		}
	}
	p, err := l.check("std/"+name, "", files, later)
	if err != nil {
		t.Fatal(err)
	}
	return p, fset
}

// describe returns all facts about a package.
func describe(p *loadedPackage, fset *token.FileSet) (list []string) {
	// A variable may be described in the same way and still be another one.
	defined := map[types.Object]bool{}
	for _, o := range p.info.Defs {
		defined[o] = true
	}
	object := func(o types.Object) string {
		return fmt.Sprint(fset.Position(o.Pos()), " ", o)
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				return true
			}
			add := func(kind string, fact ...any) {
				list = append(list, fmt.Sprint(fset.Position(n.Pos()), " ", kind, " ", fact))
			}
			if x, ok := n.(ast.Expr); ok {
				if tv, ok := p.info.Types[x]; ok {
					add("type", tv.Type, tv.Value, tv.IsVoid(), tv.IsType(), tv.IsBuiltin(), tv.Addressable(), tv.Assignable(), tv.HasOk())
				}
			}
			switch n := n.(type) {
			case *ast.Ident:
				if o := p.info.Defs[n]; o != nil {
					add("defines", object(o))
				}
				if o := p.info.Uses[n]; o != nil {
					add("uses", object(o), defined[o])
				}
				if i, ok := p.info.Instances[n]; ok {
					add("instance", i.Type, i.TypeArgs.Len())
				}
			case *ast.SelectorExpr:
				if s := p.info.Selections[n]; s != nil {
					add("selection", s, s.Index(), s.Indirect(), object(s.Obj()))
				}
			}
			if o := p.info.Implicits[n]; o != nil {
				add("implicit", object(o))
			}
			// The variables of a body that is checked later are in the scope of its literal, which is inside that of the function.
			if _, function := n.(*ast.FuncType); p.info.Scopes[n] != nil && !function {
				add("scope", p.info.Scopes[n].Names())
			}
			return true
		})
	}
	for _, init := range p.info.InitOrder {
		list = append(list, init.String())
	}
	return list
}
