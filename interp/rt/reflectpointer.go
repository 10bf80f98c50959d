package rt

import (
	"reflect"
	"unsafe"
)

// Pointer does what the method of reflect.Value does. A function of a cell gets a number, from which
// runtime.FuncForPC makes its name; all of them have the same code pointer.
func (v ReflectValue) Pointer() uintptr {
	switch raw := v.Value; {
	case raw.Kind() == reflect.Func && !raw.IsNil() && v.r != nil:
		if !raw.CanInterface() {
			break // an unexported field
		}
		if pc, ok := v.r.config.FunctionPointer(raw); ok {
			return pc
		}
	case raw.IsValid() && raw.Type() == wrapperType:
		return uintptr(v.typeAddress())
	}
	return v.Value.Pointer()
}

// UnsafePointer does what the method of reflect.Value does.
func (v ReflectValue) UnsafePointer() unsafe.Pointer {
	if v.IsValid() && v.Value.Type() == wrapperType {
		return v.typeAddress()
	}
	return v.Value.UnsafePointer()
}

var wrapperType = reflect.TypeFor[typeWrapper]()

// typeAddress returns the address that stands for the reflect.Type that v holds. In compiled code that is a
// pointer; here it is a struct, and equal types have the same descriptor.
func (v ReflectValue) typeAddress() unsafe.Pointer {
	return v.Value.FieldByName("d").UnsafePointer()
}
