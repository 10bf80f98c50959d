package layout

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Method is a method of a named type.
type Method struct {
	Name string
	Type reflect.Type   // function type without the receiver
	Code unsafe.Pointer // the first argument is the data word of an interface value
}

// nameOffset, typeOffset and textOffset are references in internal/abi to data outside of a module: IDs that the runtime
// assigns, see addReflectOff.
type (
	nameOffset int32
	typeOffset int32
	textOffset int32
)

// uncommon is internal/abi.UncommonType, followed by space for methods.
type uncommon struct {
	pkgPath        nameOffset
	count, exports uint16
	methods        uint32 // offset of the methods
	_              uint32
	list           [maxMethods]methodEntry
}

// maxMethods is the maximum number of methods of a type created here.
const maxMethods = 20

// methodEntry is internal/abi.Method.
type methodEntry struct {
	name            nameOffset
	typ             typeOffset
	viaWord, direct textOffset
}

// Flags of internal/abi.TFlag.
const (
	flagUncommon  = 1 << 0
	flagExtraStar = 1 << 1
	flagNamed     = 1 << 2
)

// The representations of types by kind, with the data after the common part. They are Go types so that the garbage collector
// finds the pointers in them.
type (
	basicNamed struct {
		commonType
		uncommon
	}
	elemNamed struct {
		elemType
		uncommon
	}
	chanNamed struct {
		elemType
		direction uintptr
		uncommon
	}
	arrayNamed struct {
		arrayType
		uncommon
	}
	mapNamed struct {
		wholeMapType
		uncommon
	}
	structNamed struct {
		structType
		uncommon
	}
)

// Named returns a copy of the type t with the given name, such as "main.P", and the methods. It also creates the pointer type
// with the methods ofPointer. It returns t itself if t is a function or interface type. The types are never freed.
func Named(t reflect.Type, name string, methods, ofPointer []Method) reflect.Type {
	made, common, u := like(t)
	if made == nil {
		return t
	}
	common.flags[0] = common.flags[0]&^flagExtraStar | flagUncommon | flagNamed
	common.str = int32(newName(name, false))
	common.hash ^= uint32(common.str) * 0x9e3779b1
	u.fill(methods)
	u.pkgPath = newName(name[:strings.IndexByte(name, '.')], false)
	addReflectOff(made)

	p := &elemNamed{}
	p.commonType = *(*commonType)(typePointer(reflect.TypeFor[*unsafe.Pointer]()))
	p.elem = made
	p.flags[0] = p.flags[0]&^(flagExtraStar|flagNamed) | flagUncommon
	p.str = int32(newName("*"+name, false))
	p.hash = common.hash*16777619 ^ '*'
	p.ptrToThis = 0
	p.fill(ofPointer)
	common.ptrToThis = addReflectOff(unsafe.Pointer(p))
	return typeAt(made)
}

// like returns a copy of t and its parts.
func like(t reflect.Type) (unsafe.Pointer, *commonType, *uncommon) {
	from := typePointer(t)
	switch t.Kind() {
	case reflect.Struct:
		made := &structNamed{structType: *(*structType)(from)}
		return unsafe.Pointer(made), &made.commonType, &made.uncommon
	case reflect.Pointer, reflect.Slice:
		made := &elemNamed{elemType: *(*elemType)(from)}
		return unsafe.Pointer(made), &made.commonType, &made.uncommon
	case reflect.Chan:
		made := &chanNamed{elemType: *(*elemType)(from), direction: uintptr(t.ChanDir())}
		return unsafe.Pointer(made), &made.commonType, &made.uncommon
	case reflect.Array:
		made := &arrayNamed{arrayType: *(*arrayType)(from)}
		return unsafe.Pointer(made), &made.commonType, &made.uncommon
	case reflect.Map:
		made := &mapNamed{wholeMapType: *(*wholeMapType)(from)}
		return unsafe.Pointer(made), &made.commonType, &made.uncommon
	case reflect.Func, reflect.Interface, reflect.Invalid:
		return nil, nil, nil
	}
	made := &basicNamed{commonType: *(*commonType)(from)}
	return unsafe.Pointer(made), &made.commonType, &made.uncommon
}

// fill sets the methods of the type of which u is a part.
func (u *uncommon) fill(methods []Method) {
	methods = slices.Clone(methods)
	slices.SortFunc(methods, func(a, b Method) int { return strings.Compare(a.Name, b.Name) })
	u.count, u.exports = uint16(len(methods)), uint16(len(methods))
	u.methods = uint32(unsafe.Offsetof(u.list))
	for i, m := range methods {
		code := textOffset(addReflectOff(m.Code))
		u.list[i] = methodEntry{newName(m.Name, true), typeOffset(addReflectOff(typePointer(m.Type))), code, code}
	}
}

// newName returns a name in the representation of internal/abi.Name, without tag.
func newName(text string, exported bool) nameOffset {
	data := []byte{0}
	if exported {
		data[0] = 1
	}
	n := len(text)
	for ; n >= 0x80; n >>= 7 {
		data = append(data, byte(n)|0x80)
	}
	data = append(append(data, byte(n)), text...)
	return nameOffset(addReflectOff(unsafe.Pointer(&data[0])))
}

// typeAt returns the reflect.Type of the type at p.
func typeAt(p unsafe.Pointer) reflect.Type {
	t := reflect.TypeFor[int]()
	(*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] = p
	return t
}

// addReflectOff returns an ID by which types can refer to ptr, and keeps ptr alive forever. The runtime exports it to other
// packages by linkname.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(ptr unsafe.Pointer) int32
