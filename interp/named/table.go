package named

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// methodTable is the beginning of the table of a compiled interface type with methods and of a type that implements it, as package
// internal/abi declares it (ITab). The first word of a value of such an interface points to it. The code of the methods
// follows, in the order of the interface's methods, which is that of package reflect.
type methodTable struct {
	inter, typ unsafe.Pointer
	hash       uint32
	_          uint32
}

// MethodOffset returns where a method table of the interface type t has the code of a method, in bytes from its beginning. The
// address of that word is a function value whose first parameter is the data word. It is not ok if t has no such method, or if the
// runtime has another layout.
func MethodOffset(t reflect.Type, method string) (offset uintptr, ok bool) {
	m, ok := t.MethodByName(method)
	if !ok || !hasTables() {
		return 0, false
	}
	return unsafe.Sizeof(methodTable{}) + uintptr(m.Index)*unsafe.Sizeof(offset), true
}

// tables has the tables that Table has made: tableKey to []uintptr. They are never freed, as those of the runtime.
var tables sync.Map

// tableKey identifies a method table.
type tableKey struct{ in, t reflect.Type }

// Table returns the method table of the interface type in and the type t. It is that of the runtime if t implements in, so that values of
// compiled code are equal to those with this table. Otherwise it is one with which in holds values of t, but whose methods panic.
func Table(in, t reflect.Type) unsafe.Pointer {
	if t.Implements(in) {
		value := reflect.New(in)
		value.Elem().Set(reflect.Zero(t))
		return *(*unsafe.Pointer)(value.UnsafePointer())
	}
	key := tableKey{in, t}
	known, ok := tables.Load(key)
	if !ok {
		made := slices.Repeat([]uintptr{uintptr(uncallable().code)}, int(unsafe.Sizeof(methodTable{}))/int(unsafe.Sizeof(uintptr(0)))+in.NumMethod())
		*(*methodTable)(unsafe.Pointer(&made[0])) = methodTable{inter: pointerOf(in), typ: pointerOf(t), hash: (*commonType)(pointerOf(t)).hash}
		known, _ = tables.LoadOrStore(key, made)
	}
	return unsafe.Pointer(&known.([]uintptr)[0])
}

// TypesOf returns the interface type of a method table, and the type that implements it.
func TypesOf(table unsafe.Pointer) (in, t reflect.Type) {
	m := (*methodTable)(table)
	return typeAt(m.inter), typeAt(m.typ)
}

// uncallable is the code of methods that compiled code never calls.
var uncallable = sync.OnceValue(func() (f struct {
	code   unsafe.Pointer
	offset offset
}) {
	run := callUncallable
	f.code = **(**unsafe.Pointer)(unsafe.Pointer(&run))
	f.offset = addReflectOff(f.code)
	return f
})

// callUncallable ignores its arguments and does not return.
func callUncallable() { panic("compiled packages cannot call this method of a cell") }

// tableSample is a type with a method table.
type tableSample struct{ n int }

func (s *tableSample) First() int  { return s.n }
func (s *tableSample) Second() int { return -s.n }

// hasTables reports whether method tables have the layout of methodTable.
var hasTables = sync.OnceValue(func() bool {
	var sample interface {
		Second() int
		First() int
	} = &tableSample{}
	table := *(*unsafe.Pointer)(unsafe.Pointer(&sample))
	code := *(*[2]uintptr)(unsafe.Add(table, unsafe.Sizeof(methodTable{})))
	return (*methodTable)(table).typ == pointerOf(reflect.TypeFor[*tableSample]()) &&
		code[0] == reflect.ValueOf((*tableSample).First).Pointer() &&
		code[1] == reflect.ValueOf((*tableSample).Second).Pointer()
})
