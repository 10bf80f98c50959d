package supplement

import (
	"reflect"
	"unsafe"
)

// unsafeFunctions returns the functions of package unsafe that are not generic. Sizeof, Alignof and
// Offsetof are constants for the type checker; Slice and SliceData are generic and rejected.
func unsafeFunctions() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Add":        reflect.ValueOf(func(p unsafe.Pointer, length int) unsafe.Pointer { return unsafe.Add(p, length) }),
		"String":     reflect.ValueOf(func(p *byte, length int) string { return unsafe.String(p, length) }),
		"StringData": reflect.ValueOf(func(s string) *byte { return unsafe.StringData(s) }),
	}
}
