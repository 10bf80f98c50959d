package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// MapAccess makes the native functions for one map type. Common types use a Go map type whose keys and
// values have the same memory layout, and so the fast paths of Go's compiler. Others call the functions that package reflect calls.
type MapAccess struct {
	typ       reflect.Type
	Key, Elem Shape
	fast      fastMap
	entries   variables   // variables of the map type
	keys      variables   // variables of the key type
	elements  *MemoryType // nil if there is a fast path
}

// MapAccess returns the access to maps with keys and elements of these shapes.
func (vm *VM) MapAccess(key, elem Shape) *MapAccess {
	a := &MapAccess{typ: reflect.MapOf(key.Type, elem.Type), Key: key, Elem: elem, fast: fastMapOf(key, elem)}
	a.entries, a.keys = variablesOf(a.typ), variablesOf(key.Type)
	if a.fast == nil {
		a.elements = vm.MemoryType(elem.Type)
	}
	return a
}

// Name returns the name of an operation for a listing.
func (a *MapAccess) Name(operation string) string { return operation + " " + a.typ.String() }

// keyAt returns the key in a register. Package reflect copies it if it stores it.
func (a *MapAccess) keyAt(nb, sb unsafe.Pointer, at uint16) reflect.Value {
	if a.Key.File == Memory {
		return a.keys.at(*PointerAt(sb, at))
	}
	return a.Key.Get(nb, sb, at)
}

// Get loads the element of the map in register m with the key in register k into register v. ok receives whether there is one, unless it is
// NoRegister.
func (a *MapAccess) Get(m, k, v, ok uint16) *Native {
	if a.fast != nil {
		return &Native{Run: a.fast.get(m, k, v, ok)}
	}
	key, typ, elem := a.Key, descriptor(a.typ), a.elements
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		found := mapaccess(typ, *PointerAt(sb, m), key.address(nb, sb, k))
		if ok != NoRegister {
			*IntAt(nb, ok) = BoolToInt(found != nil)
		}
		switch {
		case found == nil && a.Elem.File == Scalar:
			*IntAt(nb, v) = 0
		case found == nil:
			a.Elem.Fill(nb, sb, v, elem.alloc())
		case a.Elem.File == Memory:
			*PointerAt(sb, v) = elem.clone(found)
		default:
			a.Elem.Fill(nb, sb, v, found)
		}
	}}
}

// Set sets the element of the map in register m with the key in register k to the value in register v.
func (a *MapAccess) Set(m, k, v uint16) *Native {
	if a.fast != nil {
		return &Native{Run: a.fast.set(m, k, v)}
	}
	key, elem, typ := a.Key, a.Elem, descriptor(a.typ)
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		if *PointerAt(sb, m) == nil {
			panicNilMap()
		}
		mapassign(typ, *PointerAt(sb, m), key.address(nb, sb, k), elem.address(nb, sb, v))
	}}
}

// Remove removes the element with the key in register k from the map in register m.
func (a *MapAccess) Remove(m, k uint16) *Native {
	if a.fast != nil {
		return &Native{Run: a.fast.remove(m, k)}
	}
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		entries := a.entries.at(unsafe.Add(sb, m))
		entries.SetMapIndex(a.keyAt(nb, sb, k), reflect.Value{})
	}}
}

// CanIncrease reports whether Increase supports the map type.
func (a *MapAccess) CanIncrease() bool {
	// Of other keys, equal ones may differ, and the map has the last one.
	return a.Elem.Width == "64" && a.Elem.Type.Kind() != reflect.Float64 && (a.fast != nil || isPlain(a.Key.Type))
}

// Increase adds the integer in register n to the element of the map in register m with the key in register k.
func (a *MapAccess) Increase(m, k, n uint16) *Native {
	if a.fast != nil {
		return &Native{Run: a.fast.increase(m, k, n)}
	}
	typ, key := descriptor(a.typ), a.Key
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		at := key.address(nb, sb, k)
		if found := mapaccess(typ, *PointerAt(sb, m), at); found != nil {
			*(*int64)(found) += *IntAt(nb, n)
			return
		}
		if *PointerAt(sb, m) == nil {
			panicNilMap()
		}
		mapassign(typ, *PointerAt(sb, m), at, unsafe.Add(nb, n))
	}}
}

// CheckStorable panics if an element with the key in register k cannot be stored in the map in register m.
func (a *MapAccess) CheckStorable(m, k uint16) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		if *PointerAt(sb, m) == nil {
			panicNilMap()
		}
		if k := a.keyAt(nb, sb, k); !k.Comparable() {
			reflect.MakeMap(a.typ).SetMapIndex(k, reflect.Zero(a.Elem.Type)) // panics as Go does
		}
	}}
}

// mapRange is the state of a range over a map.
type mapRange struct {
	iterator  *reflect.MapIter
	key, elem reflect.Value
}

// Begin stores the state of a range over the map in register m in register state. withKey and withElem say what the statement uses.
func (a *MapAccess) Begin(state, m uint16, withKey, withElem bool) *Native {
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
		v := reflect.NewAt(a.typ, unsafe.Add(sb, m)).Elem()
		x := &mapRange{}
		// Copy it: the register may be reused for another map.
		copied := reflect.New(a.typ)
		copied.Elem().Set(v)
		x.iterator = copied.Elem().MapRange()
		if withKey {
			x.key = reflect.New(a.Key.Type).Elem()
		}
		if withElem {
			x.elem = reflect.New(a.Elem.Type).Elem()
		}
		*PointerAt(sb, state) = unsafe.Pointer(x)
	}}
}

// Next goes on to the next entry, whose key and element it loads if they are used. more receives whether there is one.
func (a *MapAccess) Next(state, more, key, elem uint16) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		x := (*mapRange)(*PointerAt(sb, state))
		if !x.iterator.Next() {
			*IntAt(nb, more) = 0
			return
		}
		*IntAt(nb, more) = 1
		if x.key.IsValid() {
			x.key.SetIterKey(x.iterator)
			a.Key.Fill(nb, sb, key, x.key.Addr().UnsafePointer())
		}
		if x.elem.IsValid() {
			x.elem.SetIterValue(x.iterator)
			a.Elem.Fill(nb, sb, elem, x.elem.Addr().UnsafePointer())
		}
	}}
}

// MakeMap makes a map of type typ in register at. size is the register with its expected length, or NoRegister.
func MakeMap(typ reflect.Type, at, size uint16) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		n := 0
		if size != NoRegister {
			n = max(0, int(*IntAt(nb, size)))
			rt.Allocate(n, int(typ.Key().Size()+typ.Elem().Size())+1)
		}
		*PointerAt(sb, at) = reflect.MakeMapWithSize(typ, n).UnsafePointer()
	}}
}

// isPlain reports whether values of type t consist of integers and booleans.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !isPlain(f.Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Uintptr
}

// panicNilMap panics as Go does on assignment to an entry of a nil map.
func panicNilMap() {
	var m map[int]int
	m[0] = 0 //nolint:staticcheck // on purpose
}

// mapaccess returns the address of the element of m with the key at an address, nil if there is none. typ is the descriptor of the map type.
// The runtime exports this function and the next one to other packages by linkname.
//
//go:linkname mapaccess reflect.mapaccess
func mapaccess(typ, m, key unsafe.Pointer) unsafe.Pointer

// mapassign sets the element of m with the key at an address to the value at another.
//
//go:linkname mapassign reflect.mapassign0
func mapassign(typ, m, key, elem unsafe.Pointer)

// descriptor returns the address of the descriptor of a type.
func descriptor(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

// variables makes the reflect values of variables of a type. reflect.NewAt looks for the pointer type each time.
type variables struct{ pointerType unsafe.Pointer } // the type word of an interface value that holds a pointer to a variable

func variablesOf(t reflect.Type) variables {
	return variables{descriptor(reflect.PointerTo(t))}
}

// at returns the variable at p.
func (v variables) at(p unsafe.Pointer) reflect.Value {
	var x any
	*InterfaceWords(&x) = [2]unsafe.Pointer{v.pointerType, p}
	return reflect.ValueOf(x).Elem()
}

// fastMap makes the functions of a map type. Registers: m is the map, k the key, v the value; ok reports
// whether the key is present, or is NoRegister.
type fastMap interface {
	get(m, k, v, ok uint16) func(t *Thread, nb, sb unsafe.Pointer)
	set(m, k, v uint16) func(t *Thread, nb, sb unsafe.Pointer)
	remove(m, k uint16) func(t *Thread, nb, sb unsafe.Pointer)
	increase(m, k, n uint16) func(t *Thread, nb, sb unsafe.Pointer)
}

// typedMap is a map whose keys and values are accessed directly in registers.
type typedMap[K comparable, V any] struct {
	scalarKey, scalarValue bool
	narrow                 bool // the value does not fill its register
}

func (y typedMap[K, V]) get(m, k, v, ok uint16) func(*Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *Thread, nb, sb unsafe.Pointer) {
		keys, values := sb, sb
		if y.scalarKey {
			keys = nb
		}
		if y.scalarValue {
			values = nb
		}
		value, found := (*(*map[K]V)(unsafe.Add(sb, m)))[*(*K)(unsafe.Add(keys, k))]
		if y.narrow {
			*IntAt(nb, v) = 0
		}
		*(*V)(unsafe.Add(values, v)) = value
		if ok != NoRegister {
			*IntAt(nb, ok) = BoolToInt(found)
		}
	}
}

func (y typedMap[K, V]) set(m, k, v uint16) func(*Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *Thread, nb, sb unsafe.Pointer) {
		keys, values := sb, sb
		if y.scalarKey {
			keys = nb
		}
		if y.scalarValue {
			values = nb
		}
		(*(*map[K]V)(unsafe.Add(sb, m)))[*(*K)(unsafe.Add(keys, k))] = *(*V)(unsafe.Add(values, v))
	}
}

func (y typedMap[K, V]) remove(m, k uint16) func(*Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *Thread, nb, sb unsafe.Pointer) {
		keys := sb
		if y.scalarKey {
			keys = nb
		}
		delete(*(*map[K]V)(unsafe.Add(sb, m)), *(*K)(unsafe.Add(keys, k)))
	}
}

// increase adds the scalar in register n to an element, for a map of numbers.
func (y typedMap[K, V]) increase(m, k, n uint16) func(*Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *Thread, nb, sb unsafe.Pointer) {
		keys := sb
		if y.scalarKey {
			keys = nb
		}
		(*(*map[K]int64)(unsafe.Add(sb, m)))[*(*K)(unsafe.Add(keys, k))] += *IntAt(nb, n)
	}
}

// fastMapOf returns the fast path for a map type, or nil.
func fastMapOf(key, elem Shape) fastMap {
	switch key.Type.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return fastMapTo[int64](elem, true)
	case reflect.Int32, reflect.Uint32:
		return fastMapTo[int32](elem, true)
	case reflect.Uint8, reflect.Int8:
		return fastMapTo[int8](elem, true)
	case reflect.String:
		return fastMapTo[string](elem, false)
	}
	return nil
}

func fastMapTo[K comparable](elem Shape, scalarKey bool) fastMap {
	switch {
	case elem.Width == "64":
		return typedMap[K, int64]{scalarKey, true, false}
	case elem.Width == "8U":
		return typedMap[K, uint8]{scalarKey, true, true}
	case elem.Width == "Str":
		return typedMap[K, string]{scalarKey, false, false}
	case elem.Width == "Sl":
		return typedMap[K, []byte]{scalarKey, false, false}
	case elem.Width == "P" && elem.File == Reference:
		return typedMap[K, unsafe.Pointer]{scalarKey, false, false}
	}
	return nil
}
