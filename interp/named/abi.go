package named

import (
	"encoding/binary"
	"reflect"
	"sync"
	"unsafe"
)

// The descriptors of types, as package internal/abi declares them.
type (
	// commonType is internal/abi.Type.
	commonType struct {
		size, ptrBytes     uintptr
		hash               uint32
		flags              uint8
		align, _           uint8
		kind               uint8
		equal              func(unsafe.Pointer, unsafe.Pointer) bool
		gcData             *byte
		str, pointerToThis offset
	}
	structType struct {
		commonType
		path   *byte
		fields []structField
	}
	structField struct {
		name   *byte // see encodeName
		typ    unsafe.Pointer
		offset uintptr
	}
	// elemType is PtrType, SliceType and the beginning of ChanType.
	elemType struct {
		commonType
		elem unsafe.Pointer
	}
	chanType struct {
		elemType
		direction uintptr
	}
	arrayType struct {
		commonType
		elem, slice unsafe.Pointer
		length      uintptr
	}
	mapType struct {
		commonType
		key, elem, group unsafe.Pointer
		hasher           func(unsafe.Pointer, uintptr) uintptr
		mapLayout
	}
	// The parameters and results of a function type follow it, after its uncommonType if it has one.
	funcType struct {
		commonType
		in, out uint16
	}
	interfaceType struct {
		commonType
		path    *byte
		methods []interfaceMethod
	}
	interfaceMethod struct{ name, typ offset }
	// uncommonType follows the descriptor of a named type, and of a type with methods.
	uncommonType struct {
		path           offset
		count, exports uint16
		methods        uint32 // distance of the methods from here
		_              uint32
	}
	methodEntry struct{ name, typ, word, value offset }
)

// offset refers to a name, a type or code. The runtime assigns those of what it has not loaded from the program file.
type offset int32

// Flags of commonType.
const (
	flagUncommon  = 1 << 0
	flagExtraStar = 1 << 1 // the name has a star that does not belong to it
	flagNamed     = 1 << 2
	flagRegular   = 1 << 3 // values are equal if their bytes are
)

// Flags of names.
const (
	nameExported = 1 << 0
	nameTag      = 1 << 1
	namePath     = 1 << 2
	nameEmbedded = 1 << 3
)

// addReflectOff returns an offset by which descriptors can refer to p, and keeps p alive forever. The runtime exports it to
// other packages by linkname.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(p unsafe.Pointer) offset

// pointerOf returns the address of the descriptor of t.
func pointerOf(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

// typeAt returns the type whose descriptor is at p.
func typeAt(p unsafe.Pointer) reflect.Type {
	t := reflect.TypeFor[int]()
	(*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] = p
	return t
}

// encodeName returns a name in the representation of internal/abi.Name.
func encodeName(text, tag, path string, flags byte) *byte {
	if tag != "" {
		flags |= nameTag
	}
	if path != "" {
		flags |= namePath
	}
	data := append(binary.AppendUvarint([]byte{flags}, uint64(len(text))), text...)
	if tag != "" {
		data = append(binary.AppendUvarint(data, uint64(len(tag))), tag...)
	}
	if path != "" {
		data = binary.NativeEndian.AppendUint32(data, uint32(nameOffset(path, "", 0)))
	}
	return &data[0]
}

// nameKey identifies a name.
type nameKey struct {
	text, path string
	flags      byte
}

// names are the offsets of names, which are never freed.
var names = struct {
	sync.Mutex
	known map[nameKey]offset
}{known: map[nameKey]offset{}}

// nameOffset returns the offset of a name without a tag.
func nameOffset(text, path string, flags byte) offset {
	key := nameKey{text, path, flags}
	names.Lock()
	known, ok := names.known[key]
	names.Unlock()
	if ok {
		return known
	}
	made := addReflectOff(unsafe.Pointer(encodeName(text, "", path, flags)))
	names.Lock()
	defer names.Unlock()
	names.known[key] = made
	return made
}

// baseOf returns the Go type of the descriptors of a kind, without what follows.
func baseOf(k reflect.Kind) reflect.Type {
	switch k {
	case reflect.Struct:
		return reflect.TypeFor[structType]()
	case reflect.Pointer, reflect.Slice:
		return reflect.TypeFor[elemType]()
	case reflect.Chan:
		return reflect.TypeFor[chanType]()
	case reflect.Array:
		return reflect.TypeFor[arrayType]()
	case reflect.Map:
		return reflect.TypeFor[mapType]()
	case reflect.Func:
		return reflect.TypeFor[funcType]()
	case reflect.Interface:
		return reflect.TypeFor[interfaceType]()
	}
	return reflect.TypeFor[commonType]()
}

// memoryKey identifies the Go type of a descriptor with all that follows it.
type memoryKey struct {
	base              reflect.Type
	pointers, methods int
}

var memories sync.Map // memoryKey to reflect.Type

// allocate returns memory for a descriptor of a kind, followed by an uncommonType, pointers and methods, which it also
// returns. The memory has a Go type, so that the garbage collector finds the pointers in it.
func allocate(k reflect.Kind, pointers, methods int) (made unsafe.Pointer, u *uncommonType, parts []unsafe.Pointer, list []methodEntry) {
	key := memoryKey{baseOf(k), pointers, capacity(methods)}
	t, ok := memories.Load(key)
	if !ok {
		t = reflect.StructOf([]reflect.StructField{
			{Name: "Base", Type: key.base},
			{Name: "Uncommon", Type: reflect.TypeFor[uncommonType]()},
			{Name: "Parts", Type: reflect.ArrayOf(key.pointers, reflect.TypeFor[unsafe.Pointer]())},
			{Name: "Methods", Type: reflect.ArrayOf(key.methods, reflect.TypeFor[methodEntry]())},
		})
		memories.Store(key, t)
	}
	memory := t.(reflect.Type)
	made = reflect.New(memory).UnsafePointer()
	u = (*uncommonType)(unsafe.Add(made, memory.Field(1).Offset))
	u.methods = uint32(memory.Field(3).Offset - memory.Field(1).Offset)
	return made, u, unsafe.Slice((*unsafe.Pointer)(unsafe.Add(made, memory.Field(2).Offset)), pointers),
		unsafe.Slice((*methodEntry)(unsafe.Add(made, memory.Field(3).Offset)), methods)
}

// capacity rounds n up, so that a few Go types serve all descriptors. There is always room for a method, because an
// address at the end of an object would belong to the next one.
func capacity(n int) int {
	c := 1
	for c < n {
		c *= 2
	}
	return c
}

// copyBase copies the part of a descriptor that is the same for all types of its kind.
func copyBase(to, from unsafe.Pointer, k reflect.Kind) {
	base := baseOf(k)
	reflect.NewAt(base, to).Elem().Set(reflect.NewAt(base, from).Elem())
}

// signature returns the parameters and results of the function type t.
func signature(t reflect.Type) []unsafe.Pointer {
	at := unsafe.Sizeof(funcType{})
	if (*commonType)(pointerOf(t)).flags&flagUncommon != 0 {
		at += unsafe.Sizeof(uncommonType{})
	}
	return unsafe.Slice((*unsafe.Pointer)(unsafe.Add(pointerOf(t), at)), t.NumIn()+t.NumOut())
}

// IsDirect reports whether the data word of an interface holds a value of type t itself instead of its address: t
// consists of one pointer, and perhaps of fields or elements without a size.
func IsDirect(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		if t.Size() != unsafe.Sizeof(uintptr(0)) {
			return false
		}
		for f := range t.Fields() {
			if f.Type.Size() != 0 {
				return IsDirect(f.Type)
			}
		}
	case reflect.Array:
		return t.Len() == 1 && IsDirect(t.Elem())
	}
	return false
}
