package named

import (
	"reflect"
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
