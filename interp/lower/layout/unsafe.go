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
	_      *byte // name
	typ    unsafe.Pointer
	offset uintptr
}

// typePointer is the pointer that a reflect.Type holds.
func typePointer(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

// setFieldType replaces the type of a field by one of the same size. t must come
// from reflect.StructOf.
func setFieldType(t reflect.Type, i int, field reflect.Type) {
	(*structType)(typePointer(t)).fields[i].typ = typePointer(field)
}
