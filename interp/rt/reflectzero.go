package rt

import "reflect"

// ValidValue returns v. It panics as the method does on the zero Value.
func ValidValue(v ReflectValue, method string) ReflectValue {
	if !v.IsValid() {
		panic(PanicValue(&reflect.ValueError{Method: "reflect.Value." + method, Kind: reflect.Invalid}))
	}
	return v
}
