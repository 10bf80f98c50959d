package lower

import (
	"go/ast"
	"go/types"
	"strconv"
)

// labelsParameters is a function that shows a control for each parameter of a function argument and labelsParameters it with the
// parameter's name. A function value does not contain the names of its parameters:
//
//	widgets.Interact(f, 3)  ->  widgets.Interact(rtʹ.Named(f, "rate"), 3)
const labelsParameters = "github.com/quernlab/quern/widgets.Interact"

// named adds the names of its parameters to the first argument of such a call.
func (f *functionTypes) named(e *ast.CallExpr, x ast.Expr, text string) string {
	o := f.compiledFunc(e)
	if o == nil || o.FullName() != labelsParameters {
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
