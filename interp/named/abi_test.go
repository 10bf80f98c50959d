package named

import (
	"reflect"
	"testing"
	"unsafe"
)

// TestIsDirect compares the rule with what the compiler and package reflect do: the data word of an interface with
// a direct value is the pointer in it.
func TestIsDirect(t *testing.T) {
	t.Parallel()
	type nothing struct{}
	pointer := reflect.TypeFor[*int]()
	types := []reflect.Type{
		pointer, reflect.TypeFor[map[int]int](), reflect.TypeFor[unsafe.Pointer](), reflect.TypeFor[uintptr](), reflect.TypeFor[any](),
		reflect.TypeFor[struct{ p *int }](), reflect.TypeFor[struct {
			nothing
			p *int
		}](), reflect.TypeFor[struct {
			p *int
			_ nothing
		}](), reflect.TypeFor[struct {
			_ [0]*int
			s struct {
				_ nothing
				p [1]*int
			}
			_, _ nothing
		}](), reflect.TypeFor[struct {
			_ nothing
			n uintptr
		}](), reflect.TypeFor[[1]*int](), reflect.TypeFor[[0]*int](), reflect.TypeFor[[2]*int](), reflect.TypeFor[[1]struct {
			_ nothing
			p *int
		}](), reflect.TypeFor[nothing](), reflect.TypeFor[struct{ a, b *int }](), reflect.TypeFor[struct{ a, b int32 }](),
		reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[nothing]()}, {Name: "P", Type: pointer}}),
		reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.ArrayOf(0, pointer)}, {Name: "P", Type: reflect.ArrayOf(1, pointer)}}),
		reflect.StructOf([]reflect.StructField{{Name: "P", Type: pointer}, {Name: "A", Type: reflect.TypeFor[nothing]()}}),
	}
	for _, typ := range types {
		n := 7
		var memory [4]unsafe.Pointer
		if typ.Size() <= unsafe.Sizeof(memory) && typ.Kind() != reflect.Interface {
			memory[0] = unsafe.Pointer(&n)
		}
		x := reflect.NewAt(typ, unsafe.Pointer(&memory)).Elem().Interface()
		want := (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1] == unsafe.Pointer(&n)
		if got := IsDirect(typ); got != want {
			t.Errorf("%v: got %t, want %t", typ, got, want)
		}
	}
}
