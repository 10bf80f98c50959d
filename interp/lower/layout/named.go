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
	Type reflect.Type   // func without the receiver
	Code unsafe.Pointer // its first argument is the data word of an interface
}

// nameOffset, typeOffset and textOffset are how internal/abi refers to what is not in
// a module: by numbers that the runtime gives out, see addReflectOff.
type (
	nameOffset int32
	typeOffset int32
	textOffset int32
)

// uncommon is internal/abi.UncommonType, with room for methods behind it.
type uncommon struct {
	pkgPath        nameOffset
	count, exports uint16
	methods        uint32 // where they begin
	_              uint32
	list           [maxMethods]methodEntry
}

// maxMethods is how many methods a type made here can have.
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

// The kinds of types with what follows the common part, for the collector to see the
// pointers in it.
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

// wholeMapType is internal/abi.MapType.
type wholeMapType struct {
	mapType
	groupSize, slotSize, elemOffset uintptr
	flags, _                        uint32
}

// Named makes a type like t that has the given name, as "main.P", and the methods, and
// a type of pointers to it. It returns t where there is none: for a function or an
// interface. The types are never freed.
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

// like copies t and gives its parts.
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

// fill sets the methods of the type that u is part of.
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

// newName returns a name as internal/abi.Name has it, without tag.
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

// addReflectOff returns a number to what types refer to, and keeps it forever. The
// runtime keeps it open to other packages.
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(ptr unsafe.Pointer) int32
