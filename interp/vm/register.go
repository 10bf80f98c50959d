package vm

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// slot is a pointer register. It holds a pointer, map, channel, function, string or slice in p, n and c,
// with Go's memory layout; an interface in q and p; and a complex number in n and c.
type slot struct {
	q, p unsafe.Pointer
	n, c int
}

// The size of a slot, and where in it its offset points to.
const (
	SlotSize   = unsafe.Sizeof(slot{})
	SlotOffset = unsafe.Offsetof(slot{}.p)
)

// SliceHeader is the memory layout of a slice.
type SliceHeader struct {
	Data             unsafe.Pointer
	Length, Capacity int
}

// File says where a value is stored.
type File uint8

// The files of registers.
const (
	Scalar    File = iota // in a scalar register: sign- or zero-extended; a float as its bits
	Reference             // in a slot
	Memory                // in memory; a slot holds its address
)

// Shape is the representation of a type in registers and in memory.
type Shape struct {
	File  File
	Width string // suffix of its load operation: "8S", "64", "P", "Str", "C", ...
	Type  reflect.Type
}

// ShapeOf returns the shape of a type, or an error if the VM does not support it.
func ShapeOf(r reflect.Type) (Shape, error) {
	s := Shape{Type: r}
	switch r.Kind() {
	case reflect.Bool, reflect.Uint8:
		s.Width = "8U"
	case reflect.Int8:
		s.Width = "8S"
	case reflect.Int16:
		s.Width = "16S"
	case reflect.Uint16:
		s.Width = "16U"
	case reflect.Int32:
		s.Width = "32S"
	case reflect.Uint32, reflect.Float32:
		s.Width = "32U"
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr, reflect.Float64:
		s.Width = "64"
	case reflect.String:
		s.File, s.Width = Reference, "Str"
	case reflect.Slice:
		s.File, s.Width = Reference, "Sl"
	case reflect.Interface:
		s.File, s.Width = Reference, "If"
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		s.File, s.Width = Reference, "P"
	case reflect.Complex128:
		s.File, s.Width = Reference, "C"
	case reflect.Complex64:
		s.File, s.Width = Reference, "D"
	case reflect.Struct, reflect.Array:
		s.File, s.Width = Memory, "P"
	default:
		return s, fmt.Errorf("values of type %s", r)
	}
	return s, nil
}

// Register is a register that holds a value of a shape; of a value in memory, its address.
type Register struct {
	Shape
	Reg uint16 // its byte offset in the frame
}

// NoRegister stands for a register that there is not.
const NoRegister = ^uint16(0)

// IsComplex reports whether values of a shape are complex numbers.
func IsComplex(s Shape) bool { return s.Width == "C" || s.Width == "D" }

// Native functions access registers by these. nb and sb are the addresses of the frame in the two files, at is the byte offset of a
// register.

// IntAt is an integer register, of a float its bits.
func IntAt(nb unsafe.Pointer, at uint16) *int64 { return (*int64)(unsafe.Add(nb, at)) }

// FloatAt is a register with a float64.
func FloatAt(nb unsafe.Pointer, at uint16) *float64 { return (*float64)(unsafe.Add(nb, at)) }

// StringAt is a slot with a string.
func StringAt(sb unsafe.Pointer, at uint16) *string { return (*string)(unsafe.Add(sb, at)) }

// SliceAt is a slot with a slice.
func SliceAt(sb unsafe.Pointer, at uint16) *SliceHeader { return (*SliceHeader)(unsafe.Add(sb, at)) }

// AnyAt is a slot with an interface value without a method table.
func AnyAt(sb unsafe.Pointer, at uint16) *any { return (*any)(unsafe.Add(sb, int(at)-8)) }

// ErrorAt is a slot with an error. The method tables of all interfaces begin in the same way, so it serves for others too.
func ErrorAt(sb unsafe.Pointer, at uint16) *error { return (*error)(unsafe.Add(sb, int(at)-8)) }

// InterfaceAt are the two words of an interface value in a slot.
func InterfaceAt(sb unsafe.Pointer, at uint16) *[2]unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8))
}

// Complex128At is a slot with a complex128.
func Complex128At(sb unsafe.Pointer, at uint16) *complex128 {
	return (*complex128)(unsafe.Add(sb, int(at)+8))
}

func complex64At(sb unsafe.Pointer, at uint16) *complex64 {
	return (*complex64)(unsafe.Add(sb, int(at)+8))
}

// PointerAt is a slot with a pointer, a map, a channel or a function.
func PointerAt(sb unsafe.Pointer, at uint16) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(sb, at))
}

// InterfaceWords returns the type word and the data word of an interface value.
func InterfaceWords(x *any) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

// BoolToInt returns a bool as it is in a register.
func BoolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Put writes v to the register at byte offset at.
func (s Shape) Put(nb, sb unsafe.Pointer, at uint16, v reflect.Value) {
	switch s.File {
	case Scalar:
		p := IntAt(nb, at)
		switch v.Kind() {
		case reflect.Bool:
			*p = BoolToInt(v.Bool())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			*p = v.Int()
		case reflect.Float64:
			*FloatAt(nb, at) = v.Float()
		case reflect.Float32:
			*p = int64(float32bits(v))
		default:
			*p = int64(v.Uint())
		}
	case Reference:
		p := unsafe.Add(sb, at)
		switch s.Width {
		case "If":
			p = unsafe.Add(p, -8)
		case "C", "D":
			p = unsafe.Add(p, 8)
		}
		reflect.NewAt(s.Type, p).Elem().Set(v)
	case Memory:
		n := reflect.New(s.Type)
		n.Elem().Set(v)
		*PointerAt(sb, at) = n.UnsafePointer()
	}
}

// Get returns the value of a register.
func (s Shape) Get(nb, sb unsafe.Pointer, at uint16) reflect.Value {
	v := reflect.New(s.Type)
	s.spill(nb, sb, at, v.UnsafePointer())
	return v.Elem()
}

// address returns the address of the value in a register. The next call of a function of the VM may move it.
func (s Shape) address(nb, sb unsafe.Pointer, at uint16) unsafe.Pointer {
	switch {
	case s.File == Scalar:
		return unsafe.Add(nb, at)
	case s.File == Memory:
		return *PointerAt(sb, at)
	case s.Width == "If":
		return unsafe.Add(sb, int(at)-8)
	case IsComplex(s):
		return unsafe.Add(sb, int(at)+8)
	}
	return unsafe.Add(sb, at)
}

// spill stores the value of a register to the variable at p.
func (s Shape) spill(nb, sb unsafe.Pointer, at uint16, p unsafe.Pointer) {
	switch s.File {
	case Scalar:
		n := *IntAt(nb, at)
		switch s.Width {
		case "8S", "8U":
			*(*int8)(p) = int8(n)
		case "16S", "16U":
			*(*int16)(p) = int16(n)
		case "32S", "32U":
			*(*int32)(p) = int32(n)
		default:
			*(*int64)(p) = n
		}
	case Reference:
		switch s.Width {
		case "P":
			*(*unsafe.Pointer)(p) = *PointerAt(sb, at)
		case "Str":
			*(*string)(p) = *StringAt(sb, at)
		case "Sl":
			*(*SliceHeader)(p) = *SliceAt(sb, at)
		case "C":
			*(*complex128)(p) = *Complex128At(sb, at)
		case "D":
			*(*complex64)(p) = *complex64At(sb, at)
		default:
			*(*[2]unsafe.Pointer)(p) = *(*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8))
		}
	case Memory:
		reflect.NewAt(s.Type, p).Elem().Set(reflect.NewAt(s.Type, *PointerAt(sb, at)).Elem())
	}
}

// Fill loads the variable at p into a register. A value in memory is not copied.
func (s Shape) Fill(nb, sb unsafe.Pointer, at uint16, p unsafe.Pointer) {
	switch s.File {
	case Scalar:
		n := IntAt(nb, at)
		switch s.Width {
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
	case Reference:
		switch s.Width {
		case "P":
			*PointerAt(sb, at) = *(*unsafe.Pointer)(p)
		case "Str":
			*StringAt(sb, at) = *(*string)(p)
		case "Sl":
			*SliceAt(sb, at) = *(*SliceHeader)(p)
		case "C":
			*Complex128At(sb, at) = *(*complex128)(p)
		case "D":
			*complex64At(sb, at) = *(*complex64)(p)
		default:
			*(*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8)) = *(*[2]unsafe.Pointer)(p)
		}
	case Memory:
		*PointerAt(sb, at) = p
	}
}

// Unpack loads the value of an interface, which has type s.typ, into a register. A value in memory is not
// copied and must not be changed.
func (s Shape) Unpack(nb, sb unsafe.Pointer, at uint16, x any) {
	switch {
	case reflect.TypeOf(x) != s.Type:
		s.Put(nb, sb, at, reflect.Zero(s.Type)) // an empty struct
	case !named.IsDirect(s.Type):
		s.Fill(nb, sb, at, InterfaceWords(&x)[1])
	case s.File == Memory:
		s.Put(nb, sb, at, reflect.ValueOf(x))
	default:
		*PointerAt(sb, at) = InterfaceWords(&x)[1]
	}
}

func float32bits(v reflect.Value) uint32 {
	var f float32
	reflect.ValueOf(&f).Elem().Set(v.Convert(reflect.TypeFor[float32]()))
	return *(*uint32)(unsafe.Pointer(&f))
}

// FrameRegisters returns the registers of parameters or results with these shapes, relative to the frame of
// the called function.
func FrameRegisters(shapes []Shape) []uint16 {
	at := make([]uint16, len(shapes))
	n, s := 0, 0
	for i, x := range shapes {
		if x.File == Scalar {
			at[i] = uint16(n * 8)
			n++
		} else {
			at[i] = uint16(s*int(SlotSize) + int(SlotOffset))
			s++
		}
	}
	return at
}
