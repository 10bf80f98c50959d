package complete

import (
	"fmt"
	"go/types"
	"strings"
)

// snippet returns the call of a function with its parameters to fill in; "" if an object is no function, or if a function itself is
// wanted. Arguments of a variadic parameter are left out unless it is the only one.
func snippet(o types.Object, wanted want) string {
	if _, ok := o.(*types.Builtin); ok {
		return o.Name() + "(${1})$0"
	}
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return ""
	}
	_, isFunc := o.(*types.Func)
	_, isVar := o.(*types.Var)
	if !isFunc && !isVar {
		return ""
	}
	f, ok := o.Type().Underlying().(*types.Signature)
	if !ok || wanted.of != nil && !types.IsInterface(wanted.of) && types.AssignableTo(o.Type(), wanted.of) {
		return ""
	}
	var arguments []string
	for i := range f.Params().Len() {
		p := f.Params().At(i)
		if f.Variadic() && i == f.Params().Len()-1 {
			if i == 0 {
				arguments = append(arguments, "${1}")
			}
			break
		}
		name := p.Name()
		if name == "" || name == "_" {
			name = types.TypeString(p.Type(), (*types.Package).Name)
		}
		arguments = append(arguments, fmt.Sprintf("${%d:%s}", i+1, escaped.Replace(name)))
	}
	return o.Name() + "(" + strings.Join(arguments, ", ") + ")$0"
}

// escaped writes a text of a snippet.
var escaped = strings.NewReplacer(`\`, `\\`, "$", `\$`, "}", `\}`)
