package vm

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"
)

// file says where a value is stored.
type file uint8

const (
	scalar    file = iota // in a scalar register: sign- or zero-extended; a float as its bits
	reference             // in a slot
	memory                // in memory; a slot holds its address
)

// shape is the representation of a type in registers and in memory.
type shape struct {
	file  file
	width string // suffix of its load operation: "8S", "64", "P", "Str", "C", ...
	typ   reflect.Type
}

// shapeOf returns the shape of a type, or an error if the VM does not support it.
func (vm *VM) shapeOf(t types.Type) (shape, error) {
	r, err := vm.config.Type(t)
	if err != nil {
		return shape{}, err
	}
	return shapeOf(r)
}

func shapeOf(r reflect.Type) (shape, error) {
	s := shape{typ: r}
	switch r.Kind() {
	case reflect.Bool, reflect.Uint8:
		s.width = "8U"
	case reflect.Int8:
		s.width = "8S"
	case reflect.Int16:
		s.width = "16S"
	case reflect.Uint16:
		s.width = "16U"
	case reflect.Int32:
		s.width = "32S"
	case reflect.Uint32, reflect.Float32:
		s.width = "32U"
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr, reflect.Float64:
		s.width = "64"
	case reflect.String:
		s.file, s.width = reference, "Str"
	case reflect.Slice:
		s.file, s.width = reference, "Sl"
	case reflect.Interface:
		s.file, s.width = reference, "If"
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		s.file, s.width = reference, "P"
	case reflect.Complex128:
		s.file, s.width = reference, "C"
	case reflect.Complex64:
		s.file, s.width = reference, "D"
	case reflect.Struct, reflect.Array:
		s.file, s.width = memory, "P"
	default:
		return s, fmt.Errorf("values of type %s", r)
	}
	return s, nil
}

// put writes v to the register at byte offset at.
func (s shape) put(nb, sb unsafe.Pointer, at uint16, v reflect.Value) {
	switch s.file {
	case scalar:
		p := intAt(nb, at)
		switch v.Kind() {
		case reflect.Bool:
			*p = boolToInt(v.Bool())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			*p = v.Int()
		case reflect.Float64:
			*floatAt(nb, at) = v.Float()
		case reflect.Float32:
			*p = int64(float32bits(v))
		default:
			*p = int64(v.Uint())
		}
	case reference:
		p := unsafe.Add(sb, at)
		switch s.width {
		case "If":
			p = unsafe.Add(p, -8)
		case "C", "D":
			p = unsafe.Add(p, 8)
		}
		reflect.NewAt(s.typ, p).Elem().Set(v)
	case memory:
		n := reflect.New(s.typ)
		n.Elem().Set(v)
		*pointerAt(sb, at) = n.UnsafePointer()
	}
}

// get returns the value of a register.
func (s shape) get(nb, sb unsafe.Pointer, at uint16) reflect.Value {
	v := reflect.New(s.typ)
	s.spill(nb, sb, at, v.UnsafePointer())
	return v.Elem()
}

// address returns the address of the value in a register. The next call of a function of the VM may move it.
func (s shape) address(nb, sb unsafe.Pointer, at uint16) unsafe.Pointer {
	switch {
	case s.file == scalar:
		return unsafe.Add(nb, at)
	case s.file == memory:
		return *pointerAt(sb, at)
	case s.width == "If":
		return unsafe.Add(sb, int(at)-8)
	case isComplex(s):
		return unsafe.Add(sb, int(at)+8)
	}
	return unsafe.Add(sb, at)
}

// spill stores the value of a register to the variable at p.
func (s shape) spill(nb, sb unsafe.Pointer, at uint16, p unsafe.Pointer) {
	switch s.file {
	case scalar:
		n := *intAt(nb, at)
		switch s.width {
		case "8S", "8U":
			*(*int8)(p) = int8(n)
		case "16S", "16U":
			*(*int16)(p) = int16(n)
		case "32S", "32U":
			*(*int32)(p) = int32(n)
		default:
			*(*int64)(p) = n
		}
	case reference:
		switch s.width {
		case "P":
			*(*unsafe.Pointer)(p) = *pointerAt(sb, at)
		case "Str":
			*(*string)(p) = *stringAt(sb, at)
		case "Sl":
			*(*sliceHeader)(p) = *sliceAt(sb, at)
		case "C":
			*(*complex128)(p) = *complex128At(sb, at)
		case "D":
			*(*complex64)(p) = *complex64At(sb, at)
		default:
			*(*[2]unsafe.Pointer)(p) = *(*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8))
		}
	case memory:
		reflect.NewAt(s.typ, p).Elem().Set(reflect.NewAt(s.typ, *pointerAt(sb, at)).Elem())
	}
}

// fill loads the variable at p into a register. A value in memory is not copied.
func (s shape) fill(nb, sb unsafe.Pointer, at uint16, p unsafe.Pointer) {
	switch s.file {
	case scalar:
		n := intAt(nb, at)
		switch s.width {
		case "8S":
			*n = int64(*(*int8)(p))
		case "8U":
			*n = int64(*(*uint8)(p))
		case "16S":
			*n = int64(*(*int16)(p))
		case "16U":
			*n = int64(*(*uint16)(p))
		case "32S":
			*n = int64(*(*int32)(p))
		case "32U":
			*n = int64(*(*uint32)(p))
		default:
			*n = *(*int64)(p)
		}
	case reference:
		switch s.width {
		case "P":
			*pointerAt(sb, at) = *(*unsafe.Pointer)(p)
		case "Str":
			*stringAt(sb, at) = *(*string)(p)
		case "Sl":
			*sliceAt(sb, at) = *(*sliceHeader)(p)
		case "C":
			*complex128At(sb, at) = *(*complex128)(p)
		case "D":
			*complex64At(sb, at) = *(*complex64)(p)
		default:
			*(*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8)) = *(*[2]unsafe.Pointer)(p)
		}
	case memory:
		*pointerAt(sb, at) = p
	}
}

func float32bits(v reflect.Value) uint32 {
	var f float32
	reflect.ValueOf(&f).Elem().Set(v.Convert(reflect.TypeFor[float32]()))
	return *(*uint32)(unsafe.Pointer(&f))
}
