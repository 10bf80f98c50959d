package lower

// Arguments of testing/quick:
//
//	quick.Check(func(c color) bool { ... }, nil)  ->  an *UnsupportedError, if color has a method Generate
//
// The package looks by reflection for the method that makes values of a type, and
// does not see that of a type of a cell: it would make values of its own.

import (
	"go/ast"
	"go/types"
)

// refuseQuick refuses the function that is given to testing/quick if one of its
// parameters has values which only a method of a cell can make.
func (f *function) refuseQuick(x ast.Expr, o *types.Func) {
	if o == nil || o.Pkg().Path() != "testing/quick" {
		return
	}
	sig, ok := f.typeOf(x).Underlying().(*types.Signature)
	if !ok {
		return
	}
	for v := range sig.Params().Variables() {
		if t := f.generator(v.Type(), map[types.Type]bool{}); t != nil {
			f.unsupported(x, "this function in testing/quick, which does not see the method Generate of "+t.String()+",",
				"give quick.Config a function Values that calls it")
		}
	}
}

// generator is the first type of cells within t that has a method Generate.
func (f *function) generator(t types.Type, seen map[types.Type]bool) types.Type {
	if seen[t] || !f.Registry.Mentions(t) {
		return nil
	}
	seen[t] = true
	if o, _, _ := types.LookupFieldOrMethod(t, false, nil, "Generate"); o != nil {
		if _, ok := o.(*types.Func); ok {
			return t
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return f.generator(u.Elem(), seen)
	case *types.Slice:
		return f.generator(u.Elem(), seen)
	case *types.Array:
		return f.generator(u.Elem(), seen)
	case *types.Map:
		if found := f.generator(u.Key(), seen); found != nil {
			return found
		}
		return f.generator(u.Elem(), seen)
	case *types.Struct:
		for v := range u.Fields() {
			if found := f.generator(v.Type(), seen); found != nil {
				return found
			}
		}
	}
	return nil
}
