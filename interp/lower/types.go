package lower

// Types:
//
//	interface{ M() }, any, cell-declared interfaces  ->  interface{}
//	error, io.Reader                                 ->  themselves
//	type P struct { Base; x int; _ int }             ->  type Pʹ1 struct { Base Baseʹ1; Xx int `json:"-" xml:"-"`; Xblankʹ2 int }
//	type A = B                                       ->  B
//	type Day time.Time                               ->  type Dayʹ1 = time.Time
//	func f() { type T int }                          ->  type Tʹ1 int, outside
//	Stack[int]                                       ->  Stackʹintʹ1, declared on demand
//	iter.Seq[int]                                    ->  func(func(int) bool)
//	type State func(*M) State                        ->  type Stateʹ1 func(*Mʹ1) interface{}
//	type Node struct { next *Node }, type T []T      ->  typesʹ.Nodeʹ1, made by package layout
//
// yaegi exports every field, hence the field names and tags. It turns all blank fields into the same field. It never finishes
// a function type that mentions itself, and creates wrong types for most structs that do.

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/origin"
)

var anyType = types.NewInterfaceType(nil, nil)

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

// dynamic reports whether t is an interface that is interface{} in lowered code.
func dynamic(t types.Type) bool {
	if !types.IsInterface(t) {
		return false
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return Interpreted(n) || n.Obj().Pkg() == nil && n.Obj().Name() != "error"
	}
	return true
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// boxed reports whether a value of type t is boxed when it is converted to an interface.
func (e *emitter) boxed(t types.Type) bool { return !types.IsInterface(t) && e.Registry.Mentions(t) }

// typ renders a type without type parameters.
func (e *emitter) typ(t types.Type) string {
	switch t := t.(type) {
	case *types.Alias:
		return e.typ(types.Unalias(t))
	case *types.Basic:
		switch {
		case t.Kind() == types.UnsafePointer:
			return e.alias(types.Unsafe) + ".Pointer"
		case t.Kind() == types.UntypedNil:
			return "interface{}"
		case t.Info()&types.IsUntyped != 0:
			return types.Default(t).String()
		}
		return t.Name()
	case *types.Named:
		return e.namedType(t)
	case *types.Pointer:
		return "*" + e.typ(t.Elem())
	case *types.Slice:
		return "[]" + e.typ(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), e.typ(t.Elem()))
	case *types.Map:
		return "map[" + e.typ(t.Key()) + "]" + e.typ(t.Elem())
	case *types.Chan:
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + e.typ(t.Elem())
		case types.RecvOnly:
			return "<-chan " + e.typ(t.Elem())
		}
		return "chan (" + e.typ(t.Elem()) + ")"
	case *types.Signature:
		return "func" + e.signature(t)
	case *types.Struct:
		return "struct { " + strings.Join(e.fields(t), "; ") + " }"
	case *types.Interface:
		return "interface{}"
	}
	panic(fmt.Sprintf("type %T (%s) cannot be rendered", t, t))
}

func (e *emitter) namedType(t *types.Named) string {
	o := t.Obj()
	switch {
	case o.Pkg() == nil && o.Name() == "error":
		return "error"
	case dynamic(t):
		return "interface{}"
	case t.TypeArgs().Len() > 0:
		if sig, ok := t.Underlying().(*types.Signature); ok && !origin.Interpreted(o.Pkg()) {
			return e.typ(sig)
		}
		return e.typeInstance(t)
	case origin.Interpreted(o.Pkg()) || isSource(o.Pkg()):
		if name, ok := e.names[o]; ok {
			return name
		}
		return e.demandType(t)
	}
	return e.publicName(o)
}

// demandType returns a name for a type that is not declared at package level of a cell, and queues its declaration.
func (e *emitter) demandType(t *types.Named) string {
	base, _, _ := strings.Cut(t.Obj().Name(), "[") // see rt.LocalTypeName
	name := e.nameType(t, e.fresh(base))
	set(e.Program, e.names, types.Object(t.Obj()), name)
	e.queue = append(e.queue, func() {
		e.typeDeclaration(t, name)
		e.queueTables(t)
	})
	return name
}

// nameType returns the complete name of a type. A type that mentions itself becomes a compiled type.
func (e *emitter) nameType(t *types.Named, name string) string {
	e.atDeclaration(t.Obj())
	if !e.layout.Recursive(t) {
		return name
	}
	made, err := e.layout.Type(t)
	if err != nil {
		if _, ok := t.Underlying().(*types.Struct); ok {
			// yaegi can create the simple ones.
			return name
		}
		panic(&UnsupportedError{Construct: "a type that contains itself without a struct (" + err.Error() + ")",
			Hint: "wrap it in a struct", Position: e.Fset.Position(t.Obj().Pos())})
	}
	e.symbol(name, reflect.Zero(reflect.PointerTo(made)))
	return e.importAs(TypesPath, compiledTypes) + "." + name
}

// compiledTypes is the name of the package of compiled types in lowered code.
const compiledTypes = "typesʹ"

// isMade reports whether package layout has created the type with that name.
func isMade(name string) bool { return strings.HasPrefix(name, compiledTypes+".") }

// typeDeclaration declares a type.
func (e *emitter) typeDeclaration(t *types.Named, name string) {
	e.atDeclaration(t.Obj())
	made := isMade(name)
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return
	case *types.Struct:
		if made {
			break
		}
		if o := layout.Hidden(u, Interpreted); o != nil {
			e.out.line("type %s = %s", name, e.publicName(o))
			break
		}
		e.out.open("type %s struct {", name)
		for _, field := range e.fields(u) {
			e.out.line("%s", field)
		}
		e.out.close("}")
	case *types.Signature:
		if !made {
			e.out.line("type %s func%s", name, e.signature(u))
		}
	default:
		if !made {
			e.out.line("type %s %s", name, e.typ(u))
		}
	}
}

// queueTables queues the method tables of a type that is not an interface.
func (e *emitter) queueTables(t *types.Named) {
	if !types.IsInterface(t) {
		e.queue = append(e.queue, func() { e.methodTables(t) })
	}
}

func (e *emitter) fields(t *types.Struct) []string {
	var out []string
	for i := range t.NumFields() {
		field := layout.FieldName(t, i) + " " + e.typ(t.Field(i).Type())
		if tag := layout.Tag(t, i); tag != "" {
			field += " " + strconv.Quote(tag)
		}
		out = append(out, field)
	}
	return out
}

// signature renders parameters and results.
func (e *emitter) signature(t *types.Signature) string {
	var in, out []string
	for i := range t.Params().Len() {
		p := t.Params().At(i).Type()
		if t.Variadic() && i == t.Params().Len()-1 {
			in = append(in, "..."+e.typ(p.Underlying().(*types.Slice).Elem()))
			continue
		}
		in = append(in, e.typ(p))
	}
	for i := range t.Results().Len() {
		out = append(out, e.typ(t.Results().At(i).Type()))
	}
	s := "(" + list(in) + ")"
	switch len(out) {
	case 0:
		return s
	case 1:
		return s + " " + out[0]
	}
	return s + " (" + list(out) + ")"
}

// under returns the underlying type of t or of its pointer target.
func under(t types.Type) types.Type {
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem().Underlying()
	}
	return t
}

// named returns t or its pointer target as a named type.
func named(t types.Type) (n *types.Named, pointer bool) {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		n, _ = types.Unalias(p.Elem()).(*types.Named)
		return n, true
	}
	n, _ = t.(*types.Named)
	return n, false
}
