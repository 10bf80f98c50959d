package lower

// Arguments of encoding/xml:
//
//	xml.Marshal(p)  ->  xml.Marshal(p), the raw value, or an *UnsupportedError
//	xml.Marshal(i)  ->  xml.Marshal(rtʹ.XMLValue(i, true)), which may panic
//
// The package finds names, methods and embedded fields by reflection, which does
// not see those of types of cells.

import (
	"go/ast"
	"go/types"
	"strconv"
)

// xmlElement tells of the functions of encoding/xml that take a value whether
// the value has to tell the name of its element.
var xmlElement = map[string]bool{
	"Marshal": true, "MarshalIndent": true, "Encode": true,
	"EncodeElement": false, "Unmarshal": false, "Decode": false, "DecodeElement": false,
}

// xmlArgument is which argument of o is a value for encoding/xml, -1 for none.
func xmlArgument(o *types.Func) int {
	if o == nil || o.Pkg().Path() != "encoding/xml" {
		return -1
	}
	if _, ok := xmlElement[o.Name()]; !ok {
		return -1
	}
	if o.Name() == "Unmarshal" {
		return 1
	}
	return 0
}

// xmlValue lowers the argument x of the function o of encoding/xml.
func (f *function) xmlValue(x ast.Expr, o *types.Func) string {
	t, element := f.typeOf(x), xmlElement[o.Name()]
	if types.IsInterface(t) {
		return f.rt("XMLValue", f.exprTo(x, anyType), strconv.FormatBool(element))
	}
	if refusal := f.Registry.XMLRefusal(t, element); refusal != "" {
		f.unsupported(x, "this value in encoding/xml, which does not see "+refusal+",", "")
	}
	return f.expr(x)
}
