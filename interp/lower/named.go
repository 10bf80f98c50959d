package lower

import (
	"go/ast"
	"go/types"
	"strconv"
)

// labels is the function that shows a control for each parameter of the function that
// it is given, and labels it by the parameter's name. No function value knows the names of
// its parameters:
//
//	widgets.Interact(f, 3)  ->  widgets.Interact(rtʹ.Named(f, "rate"), 3)
const labels = "github.com/quernlab/quern/widgets.Interact"

// named returns the first argument of such a call the names of its parameters.
func (f *function) named(e *ast.CallExpr, x ast.Expr, text string) string {
	o := f.compiledFunc(e)
	if o == nil || o.FullName() != labels {
		return text
	}
	sig, ok := f.typeOf(x).Underlying().(*types.Signature)
	if !ok {
		return text
	}
	arguments := []string{text}
	for p := range sig.Params().Variables() {
		name := p.Name()
		if name == "_" {
			name = ""
		}
		arguments = append(arguments, strconv.Quote(name))
	}
	return f.rt("Named", arguments...)
}
