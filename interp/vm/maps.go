package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// mapAccess makes the native functions for one map type. Common types use a Go map type whose keys and
// values have the same memory layout, and so the fast paths of Go's compiler. Others call the functions that package reflect calls.
type mapAccess struct {
	typ       reflect.Type
	key, elem shape
	fast      fastMap
	entries   variables // variables of the map type
	keys      variables // variables of the key type
	mayPanic  bool      // keys contain interfaces and may turn out to be unhashable
}

// fastMap makes the functions of a map type. Registers: m is the map, k the key, v the value; ok reports
// whether the key is present, or is noRegister.
type fastMap interface {
	get(m, k, v, ok uint16) func(t *thread, nb, sb unsafe.Pointer)
	set(m, k, v uint16) func(t *thread, nb, sb unsafe.Pointer)
	remove(m, k uint16) func(t *thread, nb, sb unsafe.Pointer)
	increase(m, k, n uint16) func(t *thread, nb, sb unsafe.Pointer)
}

func (c *compiler) mapAccess(n ast.Node, t *types.Map) *mapAccess {
	a := &mapAccess{key: c.shape(n, c.subst(t.Key())), elem: c.shape(n, c.subst(t.Elem()))}
	a.typ = reflect.MapOf(a.key.typ, a.elem.typ)
	a.fast, a.entries, a.keys = fastMapOf(a.key, a.elem), variablesOf(a.typ), variablesOf(a.key.typ)
	a.mayPanic = holdsInterface(a.key.typ)
	return a
}

// keyAt returns the key in a register. Package reflect copies it if it stores it.
func (a *mapAccess) keyAt(nb, sb unsafe.Pointer, at uint16) reflect.Value {
	if a.key.file == memory {
		return a.keys.at(*pointerAt(sb, at))
	}
	return a.key.get(nb, sb, at)
}

// checkStorable panics if the entry that x op= y or x++ is about to read cannot be stored. Go's error for
// storing differs from the one for reading.
func (c *code) checkStorable(p location) {
	if p.kind != inMapEntry || !p.access.mayPanic {
		return
	}
	a, m := p.access, p.reg
	key := operand{shape: p.key.shape, reg: c.address(p.key)}
	c.native("store "+a.typ.String(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		if *pointerAt(sb, m) == nil {
			panicNilMap()
		}
		if k := a.keyAt(nb, sb, key.reg); !k.Comparable() {
			reflect.MakeMap(a.typ).SetMapIndex(k, reflect.Zero(a.elem.typ)) // panics as Go does
		}
	}})
}

// variables makes the reflect values of variables of a type. reflect.NewAt looks for the pointer type each time.
type variables struct{ pointerType unsafe.Pointer } // the type word of an interface value that holds a pointer to a variable

func variablesOf(t reflect.Type) variables {
	return variables{descriptor(reflect.PointerTo(t))}
}

// at returns the variable at p.
func (v variables) at(p unsafe.Pointer) reflect.Value {
	var x any
	*interfaceWords(&x) = [2]unsafe.Pointer{v.pointerType, p}
	return reflect.ValueOf(x).Elem()
}

// typedMap is a map whose keys and values are accessed directly in registers.
type typedMap[K comparable, V any] struct {
	scalarKey, scalarValue bool
	narrow                 bool // the value does not fill its register
}

func (y typedMap[K, V]) get(m, k, v, ok uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, nb, sb unsafe.Pointer) {
		keys, values := sb, sb
		if y.scalarKey {
			keys = nb
		}
		if y.scalarValue {
			values = nb
		}
		value, found := (*(*map[K]V)(unsafe.Add(sb, m)))[*(*K)(unsafe.Add(keys, k))]
		if y.narrow {
			*intAt(nb, v) = 0
		}
		*(*V)(unsafe.Add(values, v)) = value
		if ok != noRegister {
			*intAt(nb, ok) = boolToInt(found)
		}
	}
}

func (y typedMap[K, V]) set(m, k, v uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, nb, sb unsafe.Pointer) {
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

func (y typedMap[K, V]) remove(m, k uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, nb, sb unsafe.Pointer) {
		keys := sb
		if y.scalarKey {
			keys = nb
		}
		delete(*(*map[K]V)(unsafe.Add(sb, m)), *(*K)(unsafe.Add(keys, k)))
	}
}

// increase adds the scalar in register n to an element, for a map of numbers.
func (y typedMap[K, V]) increase(m, k, n uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, nb, sb unsafe.Pointer) {
		keys := sb
		if y.scalarKey {
			keys = nb
		}
		(*(*map[K]int64)(unsafe.Add(sb, m)))[*(*K)(unsafe.Add(keys, k))] += *intAt(nb, n)
	}
}

// increase compiles m[k] += x, for an integer x of 64 bits, with one search instead of two if the element is present. It returns false for other
// types.
func (c *code) increase(p location, x func() operand) bool {
	if p.kind != inMapEntry || p.width != "64" || p.typ.Kind() == reflect.Float64 {
		return false
	}
	a := p.access
	name := "increase " + a.typ.String()
	if a.fast != nil {
		c.native(name, &native{run: a.fast.increase(p.reg, p.key.reg, x().reg)})
		return true
	}
	if !isPlain(a.key.typ) { // of other keys, equal ones may differ, and the map has the last one
		return false
	}
	m, k, n, typ, key := p.reg, c.addressIfMemory(p.key), x().reg, descriptor(a.typ), a.key
	c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		at := key.address(nb, sb, k)
		if found := mapaccess(typ, *pointerAt(sb, m), at); found != nil {
			*(*int64)(found) += *intAt(nb, n)
			return
		}
		if *pointerAt(sb, m) == nil {
			panicNilMap()
		}
		mapassign(typ, *pointerAt(sb, m), at, unsafe.Add(nb, n))
	}})
	return true
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

// fastMapOf returns the fast path for a map type, or nil.
func fastMapOf(key, elem shape) fastMap {
	switch key.typ.Kind() {
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

func fastMapTo[K comparable](elem shape, scalarKey bool) fastMap {
	switch {
	case elem.width == "64":
		return typedMap[K, int64]{scalarKey, true, false}
	case elem.width == "8U":
		return typedMap[K, uint8]{scalarKey, true, true}
	case elem.width == "Str":
		return typedMap[K, string]{scalarKey, false, false}
	case elem.width == "Sl":
		return typedMap[K, []byte]{scalarKey, false, false}
	case elem.width == "P" && elem.file == reference:
		return typedMap[K, unsafe.Pointer]{scalarKey, false, false}
	}
	return nil
}

// mapGet reads a map element. found, if not nil, is the register for the second result.
func (c *code) mapGet(p location, found, want *operand) operand {
	ok := noRegister
	if found != nil {
		ok = found.reg
	}
	dst := c.destination(p.shape, want)
	dst.owned = p.file == memory
	a := p.access
	name := "get " + a.typ.String()
	if a.fast != nil {
		c.native(name, &native{run: a.fast.get(p.reg, p.key.reg, dst.reg, ok)})
		return dst
	}
	m, at := p.reg, dst.reg
	k, key := c.addressIfMemory(p.key), a.key
	typ, elem := descriptor(a.typ), c.vm.memoryType(a.elem.typ)
	c.native(name, &native{run: func(t *thread, nb, sb unsafe.Pointer) {
		found := mapaccess(typ, *pointerAt(sb, m), key.address(nb, sb, k))
		if ok != noRegister {
			*intAt(nb, ok) = boolToInt(found != nil)
		}
		switch {
		case found == nil && a.elem.file == scalar:
			*intAt(nb, at) = 0
		case found == nil:
			a.elem.fill(nb, sb, at, elem.alloc())
		case a.elem.file == memory:
			*pointerAt(sb, at) = elem.clone(found)
		default:
			a.elem.fill(nb, sb, at, found)
		}
	}})
	return dst
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

func (c *code) mapSet(p location, x operand) {
	a := p.access
	name := "set " + a.typ.String()
	if a.fast != nil {
		c.native(name, &native{run: a.fast.set(p.reg, p.key.reg, x.reg)})
		return
	}
	m, k, v := p.reg, c.addressIfMemory(p.key), c.addressIfMemory(x)
	key, elem, typ := a.key, a.elem, descriptor(a.typ)
	c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		if *pointerAt(sb, m) == nil {
			panicNilMap()
		}
		mapassign(typ, *pointerAt(sb, m), key.address(nb, sb, k), elem.address(nb, sb, v))
	}})
}

// panicNilMap panics as Go does on assignment to an entry of a nil map.
func panicNilMap() {
	var m map[int]int
	m[0] = 0 //nolint:staticcheck // on purpose
}

func (a *mapAccess) delete(c *compiler, m uint16, k operand) {
	name := "delete " + a.typ.String()
	if a.fast != nil {
		c.native(name, &native{run: a.fast.remove(m, k.reg)})
		return
	}
	key := operand{shape: k.shape, reg: c.address(k)}
	c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		entries := a.entries.at(unsafe.Add(sb, m))
		entries.SetMapIndex(a.keyAt(nb, sb, key.reg), reflect.Value{})
	}})
}

func (c *code) makeMap(at uint16, typ reflect.Type, size uint16) {
	c.native("make "+typ.String(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		n := 0
		if size != noRegister {
			n = max(0, int(*intAt(nb, size)))
			rt.Allocate(n, int(typ.Key().Size()+typ.Elem().Size())+1)
		}
		*pointerAt(sb, at) = reflect.MakeMapWithSize(typ, n).UnsafePointer()
	}})
}
