package lower

// Variables of compiled packages are reached through a pointer:
//
//	os.Args = nil   ->  var ArgsʹV1 *[]string = rtʹ.Variable("os", "Args").(*[]string); (*ArgsʹV1) = nil
//
// yaegi takes their value for a constant when it compiles. A variable of a
// type that no other package can name, as http.NoBody is, stays such a constant:
// nothing but a variable of the same package could be assigned to it.

import (
	"go/types"
	"strconv"
)

// compiledVariable returns the variable v of a compiled package.
func (e *emitter) compiledVariable(v *types.Var) string {
	key := v.Pkg().Path() + "/" + v.Pkg().Name()
	if symbol, ok := e.Packages[key][v.Name()]; !ok || !symbol.CanAddr() || hidden(v.Type()) {
		return e.alias(v.Pkg()) + "." + v.Name()
	}
	pointer := e.helper(v.Name()+"ʹV", "variable "+key+" "+v.Name(), func(name string) {
		typ := "*" + e.typ(v.Type())
		e.out.line("var %s %s = %s.(%s)", name, typ, e.rt("Variable", strconv.Quote(key), strconv.Quote(v.Name())), typ)
	})
	return "(*" + pointer + ")"
}

// hidden reports whether t is an unexported type of a compiled package.
func hidden(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && !n.Obj().Exported() && !Interpreted(n)
}
