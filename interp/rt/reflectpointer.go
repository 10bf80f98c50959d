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
	case v.isType():
		return uintptr(v.typeAddress())
	}
	return v.Value.Pointer()
}

// UnsafePointer does what the method of reflect.Value does.
func (v ReflectValue) UnsafePointer() unsafe.Pointer {
	if v.isType() {
		return v.typeAddress()
	}
	return v.Value.UnsafePointer()
}

// isType reports whether v holds a reflect.Type that is not one of package reflect.
func (v ReflectValue) isType() bool { return v.IsValid() && isTypeWrapper(v.Value.Type()) }

func isTypeWrapper(t reflect.Type) bool {
	return t == reflect.TypeFor[typeWrapper]() || t == reflect.TypeFor[replacedType]()
}

// typeAddress returns the address that stands for the reflect.Type that v holds. In compiled code that is a
// pointer; here it is a struct, and equal types have the same descriptor, or are the same compiled type.
func (v ReflectValue) typeAddress() unsafe.Pointer {
	if d := v.Value.FieldByName("d"); d.IsValid() {
		return d.UnsafePointer()
	}
	return v.Value.Field(0).Elem().UnsafePointer()
}
