package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"
)

// unexportedSource declares the same as the lines after it.
const unexportedSource = `package p
type ofVariable struct{ x int }
type ofResult int
type ofMethod []string
type ofField func()
type unreachable int
var Variable ofVariable
func Function(n int) (*ofResult, error) { return nil, nil }
type Type struct { next *Type; field map[string]ofField }
func (t *Type) Method(list ...ofMethod) {}
`

type (
	ofVariable struct{ x int }
	ofResult   int
	ofMethod   []string
	ofField    func()
	made       struct {
		next  *made
		field map[string]ofField
	}
)

func (t *made) Method(list ...ofMethod) {}

func TestCompiled(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", unexportedSource, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	variable := ofVariable{1}
	symbols := map[string]reflect.Value{
		"Variable": reflect.ValueOf(&variable).Elem(),
		"Function": reflect.ValueOf(func(int) (*ofResult, error) { return nil, nil }),
		"Type":     reflect.ValueOf((*made)(nil)),
	}
	for name, want := range map[string]reflect.Type{
		"ofVariable": reflect.TypeFor[ofVariable](), "ofResult": reflect.TypeFor[ofResult](), "ofMethod": reflect.TypeFor[ofMethod](),
		"ofField": reflect.TypeFor[ofField](), "Type": reflect.TypeFor[made](), "unreachable": nil,
	} {
		if got, ok := Compiled(symbols, pkg.Scope().Lookup(name).(*types.TypeName)); got != want || ok != (want != nil) {
			t.Errorf("%s: got %v, %t, want %v", name, got, ok, want)
		}
	}
}
