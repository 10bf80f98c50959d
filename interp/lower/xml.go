package lower

// Arguments of encoding/xml:
//
//	xml.Marshal(p)  ->  xml.Marshal(rtʹ.Box(17, p)), or an *UnsupportedError
//
// The package looks for methods by reflection, which does not see methods of types of cells. If the static type is
// not known, the run time rejects the same values.

import (
	"go/ast"
	"go/types"
)

// xmlArgument returns the index of the argument of o that is a value for encoding/xml, or -1 if there is none.
func xmlArgument(o *types.Func) int {
	if o == nil || o.Pkg().Path() != "encoding/xml" {
		return -1
	}
	switch o.Name() {
	case "Marshal", "MarshalIndent", "Encode", "EncodeElement", "Decode", "DecodeElement":
		return 0
	case "Unmarshal":
		return 1
	}
	return -1
}

// rejectXML rejects an argument of a function of encoding/xml that the package would not handle as in Go. In a module, only
// the call is an error, because most of what a module contains does not run.
func (f *functionTypes) rejectXML(x ast.Expr) {
	t := f.typeOf(x)
	if f.cell.Part || types.IsInterface(t) {
		return
	}
	if refusal := f.Registry.UnsupportedInXML(t); refusal != "" {
		f.unsupported(x, "an interface value in encoding/xml ("+refusal+")", "use a type that is not an interface, or encoding/json")
	}
}
