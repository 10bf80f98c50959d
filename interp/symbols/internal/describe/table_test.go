package describe

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// example has one name of each kind that a table treats differently.
const example = `package rand

import (
	"crypto/rand"
	"example.org/internal"
	"fmt"
	"io"
	other "math/rand"
)

const Untyped = 1 << 100
const Ratio = 1.5
const Text = "a\"b"
const Typed int8 = 3
const Imaginary = 2i

var Variable = rand.Reader
var hidden int

func Function(n int, rest ...string) error { return nil }
func Generic[T any](x T) {}

type Struct struct{ A int }
type List[T any] []T
type Ints = List[int]
type Constraint interface{ ~int | ~string }
type Empty interface{}

type Shape interface {
	fmt.Stringer
	Area() float64
	Scale(factor float64, options ...func(Shape) error) (Shape, error)
	Source(w io.Writer, _ *other.Rand)
}

type Sealed interface {
	Shape
	sealed()
}

// Reserved has a method that only the packages next to an internal one can write.
type Reserved interface {
	Shape
	Options(internal.Reserved)
}
`

// withInternal is an importer that also knows an internal package.
type withInternal struct{ types.Importer }

func (i withInternal) Import(path string) (*types.Package, error) {
	if path != "example.org/internal" {
		return i.Importer.Import(path)
	}
	p := types.NewPackage(path, "internal")
	name := types.NewTypeName(token.NoPos, p, "Reserved", nil)
	types.NewNamed(name, types.NewStruct(nil, nil), nil)
	p.Scope().Insert(name)
	p.MarkComplete()
	return p, nil
}

func TestTable(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "example.go", example, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: withInternal{importer.ForCompiler(fset, "source", nil)}}
	pkg, err := config.Check("example.org/my-rand", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := NewTable(pkg, func(key, name string) bool {
		if key != "example.org/my-rand/rand" {
			t.Errorf("key %q", key)
		}
		return name != "Empty"
	})
	source, err := table.Source("tables", "linux")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "table.golden", source)
}
