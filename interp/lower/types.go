package lower

import (
	"go/types"
	"reflect"
	"strconv"

	"github.com/quernlab/quern/interp/origin"
)

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

func typeList(l *types.TypeList) []types.Type {
	out := make([]types.Type, l.Len())
	for i := range out {
		out[i] = l.At(i)
	}
	return out
}
