package rt

import (
	"reflect"
	"sync"
	"unsafe"
)

// ValidValue returns v. It panics as the method of that name does on the zero
// Value: package reflect itself would say so with an error that it also has for
// yaegi, which uses zero Values for nil.
func ValidValue(v ReflectValue, method string) ReflectValue {
	if !v.IsValid() {
		panic(&reflect.ValueError{Method: methodText(method), Kind: reflect.Invalid})
	}
	return v
}

// methodTexts has the names of methods in errors about zero Values of cells, by
// name. The address of the text distinguishes them from other such errors.
var methodTexts sync.Map

func methodText(method string) string {
	text, ok := methodTexts.Load(method)
	if !ok {
		text, _ = methodTexts.LoadOrStore(method, "reflect.Value."+method)
	}
	return text.(string)
}

// raisedByCell reports whether the error is one of ValidValue.
func raisedByCell(e *reflect.ValueError) bool {
	name := e.Method
	if len(name) < len("reflect.Value.") {
		return false
	}
	text, ok := methodTexts.Load(name[len("reflect.Value."):])
	return ok && unsafe.StringData(text.(string)) == unsafe.StringData(name)
}
