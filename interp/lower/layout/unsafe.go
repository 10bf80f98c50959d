package layout

import (
	"reflect"
	"unsafe"
)

var unsafePointer = reflect.TypeFor[unsafe.Pointer]()

// commonType is internal/abi.Type.
type commonType struct {
	size, ptrBytes uintptr
	hash           uint32
	flags          [4]uint8
	equal          func(unsafe.Pointer, unsafe.Pointer) bool
	gcData         *byte
	str, ptrToThis int32
}

// structType is internal/abi.StructType.
type structType struct {
	commonType
	pkgPath *byte
	fields  []structField
}

// structField is internal/abi.StructField.
type structField struct {
	name   *byte // of internal/abi.Name: flags, length and text
	typ    unsafe.Pointer
	offset uintptr
}

// elemType is internal/abi.PtrType, SliceType and the beginning of ChanType.
type elemType struct {
	commonType
	elem unsafe.Pointer
}

// arrayType is internal/abi.ArrayType.
type arrayType struct {
	commonType
	elem, slice unsafe.Pointer
	length      uintptr
}

// mapType is the beginning of internal/abi.MapType.
type mapType struct {
	commonType
	key, elem, group unsafe.Pointer
	hasher           func(unsafe.Pointer, uintptr) uintptr
}

// funcType is internal/abi.FuncType, as reflect.FuncOf creates it: parameters and results follow.
type funcType struct {
	_ commonType
	_ [2]uint16 // number of parameters and results
}

// typePointer returns the pointer in a reflect.Type.
func typePointer(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

// setFieldType replaces the type of a field by one of the same size. t must have been created by reflect.StructOf.
func setFieldType(t reflect.Type, i int, field reflect.Type) {
	(*structType)(typePointer(t)).fields[i].typ = typePointer(field)
}

// embeddedFlag is the flag of the name of an embedded field.
const embeddedFlag = 1 << 3

// setEmbedded makes a field an embedded field. t must have been created by reflect.StructOf, and no other part of the program may use
// the type.
func setEmbedded(t reflect.Type, i int) {
	*(*structType)(typePointer(t)).fields[i].name |= embeddedFlag
}

// setParts replaces the element, key, parameter and result types of t by those of parts, a type of the same kind. The sizes of
// each pair must be equal. t must have been created by package reflect.
func setParts(t, parts reflect.Type) {
	to, from := typePointer(t), typePointer(parts)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		(*elemType)(to).elem = (*elemType)(from).elem
	case reflect.Array:
		(*arrayType)(to).elem, (*arrayType)(to).slice = (*arrayType)(from).elem, (*arrayType)(from).slice
	case reflect.Map:
		m, want := (*mapType)(to), (*mapType)(from)
		m.key, m.elem, m.group, m.hasher = want.key, want.elem, want.group, want.hasher
	case reflect.Func:
		copy(signature(to, t), signature(from, parts))
	}
}

// signature returns the parameters and results of the function type at p.
func signature(p unsafe.Pointer, t reflect.Type) []unsafe.Pointer {
	return unsafe.Slice((*unsafe.Pointer)(unsafe.Add(p, unsafe.Sizeof(funcType{}))), t.NumIn()+t.NumOut())
}
