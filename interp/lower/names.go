package lower

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// Names of definitions. A definition of a cell gets the user's name and a number, which increases with each redefinition, because
// values of the session that run may still use the earlier one:
//
//	func f() {}      ->  fʹ1
//	x := 1; x := ""  ->  var xʹ1 int; var xʹ2 string
//
// yaegi has the variables under these names; tracebacks have the functions.

// fresh returns a name that no definition of the session has had.
func (p *Program) fresh(base string) string {
	p.counts[base]++
	return base + "ʹ" + strconv.Itoa(p.counts[base])
}

// freshOf returns a name for a part of each cell: bodyʹ3ʹ7 for cell 3. Cells share a counter, so that the number
// of counters does not grow with the cells.
func (e *emitter) freshOf(base string) string {
	e.counts[base]++
	return fmt.Sprintf("%sʹ%dʹ%d", base, e.cell.Number, e.counts[base])
}

// symbol adds an entry to Unit.Types.
func (e *emitter) symbol(name string, v reflect.Value) {
	if e.types == nil {
		e.types = map[string]reflect.Value{}
	}
	e.types[name] = v
}

// mangle replaces characters that are not allowed in an identifier.
func mangle(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == 'ʹ' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return 'ʹ'
	}, s)
}

// Interpreted reports whether a named type has no compiled counterpart: whether it is declared in a cell, or is an instance of
// a generic type.
func Interpreted(n *types.Named) bool {
	pkg := n.Obj().Pkg()
	if pkg == nil {
		return false
	}
	if origin.Interpreted(pkg) || isSource(pkg) {
		return true
	}
	if n.TypeArgs().Len() == 0 {
		return false
	}
	_, function := n.Underlying().(*types.Signature)
	return !function
}

// variable declares a variable of the session. Its type is a symbol, which package layout makes:
//
//	var x []P  ->  var xʹ1 typesʹ.T17
func (e *emitter) variable(v *types.Var) {
	made, err := e.layout.Reflect(v.Type())
	if err != nil {
		panic(&UnsupportedError{Construct: "a variable of this type (" + err.Error() + ")", Position: e.Fset.Position(v.Pos())})
	}
	name := e.typeName(v.Type())
	e.symbol(name, reflect.Zero(reflect.PointerTo(made)))
	e.out.WriteString("var " + e.names[v] + " " + TypesName + "." + name + "\n")
}

// typeName returns the symbol for a type.
func (p *Program) typeName(t types.Type) string { return "T" + strconv.Itoa(p.Registry.ID(t)) }

// TypesName is the name of the package of the types of variables in the declarations.
const TypesName = "typesʹ"

// receiver returns the type that has the method with signature sig.
func receiver(sig *types.Signature) *types.Named {
	t := types.Unalias(sig.Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named.Origin()
}

func typeList(l *types.TypeList) []types.Type { return slices.Collect(l.Types()) }
