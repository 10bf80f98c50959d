package named

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// stub is the number of a stub in the table.
type stub int32

// slots has the address of the function value of each stub. It is not a table of pointers, which the garbage collector
// would read whenever it runs; see functions.
var slots [Stubs]uintptr

// table says which stubs are in use. It is one for the program, as the assembly is.
var table struct {
	sync.Mutex
	next stub   // this and higher ones have never been in use
	free []stub // given back; the first one has been free for the longest time
	// functions keeps the function values in slots alive, up to next.
	functions []unsafe.Pointer
}

// Owner has the stubs of types that end together, such as those of a session. The zero Owner has none.
type Owner struct {
	mu    sync.Mutex
	stubs map[stub]struct{}
}

// An ExhaustedError reports that the methods of all types of the process need more code than there is.
type ExhaustedError struct{ Type string }

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("the methods of the type %s need code, and all %d methods that this program has for types of cells are in use: restart the kernel", e.Type, Stubs)
}

// take returns n stubs for the methods of a type.
func (o *Owner) take(n int, typ string) ([]stub, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	table.Lock()
	defer table.Unlock()
	if n > len(table.free)+Stubs-int(table.next) {
		return nil, &ExhaustedError{typ}
	}
	if o.stubs == nil {
		o.stubs = map[stub]struct{}{}
	}
	taken := make([]stub, n)
	for i := range taken {
		if table.next < Stubs { // before a stub of a type that may still have values
			taken[i] = table.next
			table.next++
			table.functions = append(table.functions, nil)
		} else {
			taken[i] = table.free[0]
			table.free = table.free[1:]
		}
		o.stubs[taken[i]] = struct{}{}
	}
	return taken, nil
}

// Close gives the stubs back, except those of types that have been kept. Methods of the other types panic afterwards, until
// the stubs are in use again. So no value of such a type may be left where its methods are called.
func (o *Owner) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for s := range o.stubs {
		s.set(reflect.ValueOf(callClosed))
	}
	table.Lock()
	defer table.Unlock()
	for s := range o.stubs {
		table.free = append(table.free, s)
	}
	o.stubs = nil
}

// callClosed is behind the stubs that are not in use. It ignores its arguments and does not return.
func callClosed() { panic("the session that declared this type of a cell has been closed") }

// Keep makes the methods of t work for ever. It is for types with values that a compiled package keeps.
func (t *Type) Keep() {
	t.owner.mu.Lock()
	defer t.owner.mu.Unlock()
	for _, c := range t.code {
		for _, s := range []stub{c.word, c.value, c.pointer} {
			delete(t.owner.stubs, s)
		}
	}
}

// set puts the function f behind s.
func (s stub) set(f reflect.Value) {
	x := f.Interface()
	p := (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]
	table.Lock()
	defer table.Unlock()
	table.functions[s] = p
	atomic.StoreUintptr(&slots[s], uintptr(p))
}

// offset returns the offset of the code of s.
func (s stub) offset() offset { return addReflectOff(s.code()) }
