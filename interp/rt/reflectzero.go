package rt

import (
	"reflect"
	"sync"
	"unsafe"
)

// ValidValue returns v. It panics as the method does on the zero Value. The error that
// package reflect would panic with also occurs in yaegi, which uses zero Values for nil,
// so Recovered could not tell which of the two it means.
func ValidValue(v ReflectValue, method string) ReflectValue {
	if !v.IsValid() {
		panic(&reflect.ValueError{Method: methodText(method), Kind: reflect.Invalid})
	}
	return v
}

// methodTexts caches the method texts in errors about zero Values of cells, by method
// name. The address of the text distinguishes these errors from other ones.
var methodTexts sync.Map

func methodText(method string) string {
	text, ok := methodTexts.Load(method)
	if !ok {
		text, _ = methodTexts.LoadOrStore(method, "reflect.Value."+method)
	}
	return text.(string)
}

// raisedByCell reports whether ValidValue panicked with the error.
func raisedByCell(e *reflect.ValueError) bool {
	name := e.Method
	if len(name) < len("reflect.Value.") {
		return false
	}
	text, ok := methodTexts.Load(name[len("reflect.Value."):])
	return ok && unsafe.StringData(text.(string)) == unsafe.StringData(name)
}
