package check

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"
)

// everyFact is a file with all kinds of nodes about which go/types records facts.
const everyFact = `package p

import (
	"fmt"
	renamed "strings"
)

type (
	Inner struct{ field int }
	Outer struct {
		Inner
		*renamed.Builder
		list List[int]
	}
	List[E any] []E
	Alias       = Outer
)

func (l List[E]) each(func(E) bool) {}

func first[E any](list ...E) E { return list[0] }

func unnamed(int, ...string) error { return nil }

func f(_ string, named ...any) (result error) {
	var x any = Outer{}.field
	switch y := x.(type) {
	case int, string:
	case nil:
	case error:
		return y
	default:
		_ = y
	}
	ch := make(chan int)
loop:
	for i := 0; i < 3; i++ {
		select {
		case v, ok := <-ch:
			_, _ = v, ok
		default:
			break loop
		}
	}
	for i, v := range first[[]int](nil) {
		if w := i + v; w > 0 {
			fmt.Println(renamed.ToUpper("x"), List[string].each, func() int { return -w }())
		} else {
			goto loop
		}
	}
	switch {
	case 1 < 2:
		type local struct{ Alias }
		fmt.Println(local{}, first(1.5), []float64{0: 1}, ([]byte)("a"))
	}
	return nil
}
`

// TestAddFacts compares the facts that AddFacts copies with those of go/types.
func TestAddFacts(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", everyFact, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := newInfo()
	config := types.Config{Importer: importer.Default()}
	if _, err := config.Check("p", fset, []*ast.File{file}, want); err != nil {
		t.Fatal(err)
	}
	c := &Checker{info: newInfo()}
	c.AddFacts(want, []ast.Node{file}, nil)
	inFile := map[ast.Node]bool{} // the 1 of i++ has a type, and is not in the file
	ast.Inspect(file, func(n ast.Node) bool {
		inFile[n] = true
		return true
	})
	got, all := reflect.ValueOf(*c.info), reflect.ValueOf(*want)
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if got.Field(i).Kind() != reflect.Map || all.Field(i).IsNil() {
			continue
		}
		if all.Field(i).Len() == 0 {
			t.Errorf("the file has no facts of the kind %s", name)
		}
		for k, v := range all.Field(i).Seq2() {
			n := k.Interface().(ast.Node)
			g := got.Field(i).MapIndex(k)
			if inFile[n] && (!g.IsValid() || !reflect.DeepEqual(g.Interface(), v.Interface())) {
				t.Errorf("%s: the fact about the %T at %s is missing", name, n, fset.Position(n.Pos()))
			}
		}
	}
}
