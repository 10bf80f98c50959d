package lower

// Arguments of encoding/xml:
//
//	xml.Marshal(p)  ->  xml.Marshal(rtʹ.Box(17, p)), or an *UnsupportedError
//
// The package finds methods by reflection, which does not see those of types of
// cells. Where the type is not known yet the run time refuses what it refuses.

import (
	"go/ast"
	"go/types"
)

// xmlArgument is which argument of o is a value for encoding/xml, -1 for none.
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

// refuseXML refuses an argument of a function of encoding/xml that the package would
// not treat as Go does.
func (f *function) refuseXML(x ast.Expr) {
	t := f.typeOf(x)
	if types.IsInterface(t) {
		return
	}
	if refusal := f.Registry.UnsupportedInXML(t); refusal != "" {
		f.unsupported(x, "this value in encoding/xml, which does not see "+refusal+",", "")
	}
}
