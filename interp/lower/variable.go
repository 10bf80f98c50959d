package lower

// Variables of compiled packages are accessed through a pointer:
//
//	os.Args = nil   ->  var ArgsʹV1 *[]string = rtʹ.Variable("os", "Args").(*[]string); (*ArgsʹV1) = nil
//
// yaegi treats their values as constants when it compiles. A variable of an unexported type, such as http.NoBody, stays such a constant:
// only a variable of the same package could be assigned to it.

import (
	"go/types"
	"strconv"
)

// compiledVariable returns the expression for the variable v of a compiled package.
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
