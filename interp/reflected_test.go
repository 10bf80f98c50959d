package interp_test

import (
	"strings"
	"testing"
)

const reflectedSource = `package raw

import (
	"fmt"
	"reflect"
	"unsafe"
)

//go:linkname unsafe_New reflect.unsafe_New
func unsafe_New(unsafe.Pointer) unsafe.Pointer

//go:linkname newArray reflect.unsafe_NewArray
func newArray(*descriptor, int) unsafe.Pointer

//go:linkname typedmemmove reflect.typedmemmove
func typedmemmove(t *descriptor, dst, src unsafe.Pointer)

//go:linkname copySlice reflect.typedslicecopy
func copySlice(elem unsafe.Pointer, dst, src reflect.SliceHeader) int

//go:linkname makemap reflect.makemap
func makemap(t unsafe.Pointer, n int) (m unsafe.Pointer)

//go:linkname mapassign reflect.mapassign
func mapassign(t, m, key, value unsafe.Pointer)

//go:linkname mapaccess reflect.mapaccess
func mapaccess(t, m, key unsafe.Pointer) (value unsafe.Pointer)

//go:linkname mapiterinit reflect.mapiterinit
func mapiterinit(t, m unsafe.Pointer, it *iterator)

//go:linkname mapiternext reflect.mapiternext
func mapiternext(it *iterator)

//go:linkname ifaceE2I reflect.ifaceE2I
func ifaceE2I(t unsafe.Pointer, src any, dst unsafe.Pointer)

//go:linkname typelinks reflect.typelinks
func typelinks() ([]unsafe.Pointer, [][]int32)

type descriptor struct{}

type header struct {
	Data     unsafe.Pointer
	Len, Cap int
}

type iterator struct {
	key, value, t, h unsafe.Pointer
	more             [8]uintptr
}

type words struct{ typ, data unsafe.Pointer }

func split(x any) words { return *(*words)(unsafe.Pointer(&x)) }

func join(t, data unsafe.Pointer) (x any) {
	*(*words)(unsafe.Pointer(&x)) = words{t, data}
	return x
}

func typeOf(t reflect.Type) unsafe.Pointer { return split(t).data }

func plain(h header) reflect.SliceHeader { return *(*reflect.SliceHeader)(unsafe.Pointer(&h)) }

// New returns a pointer to a copy of the value that p points to.
func New(p any) any {
	t := reflect.TypeOf(p).Elem()
	to := unsafe_New(typeOf(t))
	typedmemmove((*descriptor)(typeOf(t)), to, split(p).data)
	return join(typeOf(reflect.TypeOf(p)), to)
}

// Twice returns a slice with the elements of the slice that p points to twice.
func Twice(p any) any {
	t := reflect.TypeOf(p).Elem()
	elem, from := t.Elem(), *(*header)(split(p).data)
	array := newArray((*descriptor)(typeOf(elem)), 2*from.Len)
	n := copySlice(typeOf(elem), plain(header{array, 2 * from.Len, 2 * from.Len}), plain(from))
	rest := header{unsafe.Add(array, uintptr(n)*elem.Size()), from.Len, from.Len}
	n += copySlice(typeOf(elem), plain(rest), plain(from))
	return reflect.NewAt(t, unsafe.Pointer(&header{array, n, n})).Elem().Interface()
}

// Inverse returns a map with the entries of m without the key that p points to, that of this key, and the number of entries.
func Inverse(m, p any) (rest any, value string, n int) {
	t := typeOf(reflect.TypeOf(m))
	to := makemap(t, 1)
	var it iterator
	next := mapiternext
	for mapiterinit(t, split(m).data, &it); it.key != nil; next(&it) {
		n++
		if key := reflect.NewAt(reflect.TypeOf(m).Key(), it.key).Elem(); key.Interface() != reflect.ValueOf(p).Elem().Interface() {
			mapassign(t, to, it.key, it.value)
		}
	}
	if v := mapaccess(t, split(m).data, split(p).data); v != nil {
		value = fmt.Sprint(reflect.NewAt(reflect.TypeOf(m).Elem(), v).Elem())
	}
	return join(t, to), value, n
}

func Stringer(x any) (s fmt.Stringer) {
	ifaceE2I(typeOf(reflect.TypeFor[fmt.Stringer]()), x, unsafe.Pointer(&s))
	return s
}

func Types() int { sections, _ := typelinks(); return len(sections) }
`

// Packages may link to functions of package reflect that take descriptors of types, also those of types of cells.
func TestModuleWithLinksToReflect(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/raw@v1.0.0/go.mod": "module example.com/raw",
		"example.com/raw@v1.0.0/raw.go": reflectedSource,
	}))
	n.must(t, "%get example.com/raw", "example.com/raw v1.0.0\n")
	n.must(t, `import "example.com/raw"`+"\ntype K struct{ A any; b string }\nfunc (k K) String() string { return fmt.Sprint(\"K\", k.A, k.b) }\nk := K{1, \"one\"}\np := raw.New(&k).(*K)\np.b = \"two\"\n*raw.New(new(5.5)).(*float64)", "= 5.5")
	n.must(t, "*p, k, *raw.New(&[]int{1, 2}).(*[]int)", "= K1two, K1one, [1 2]")
	n.must(t, "raw.Twice(&[]K{k, *p}), raw.Twice(&[]string{}), cap(raw.Twice(&[]byte{1, 2}).([]byte))", "= [K1one K1two K1one K1two], [], 4")
	n.must(t, "m := map[K]*string{k: new(\"a\"), *p: new(\"b\"), {nil, \"\"}: nil}\nrest, value, count := raw.Inverse(m, &k)\nlen(rest.(map[K]*string)), *rest.(map[K]*string)[*p], value == fmt.Sprint(m[k]), count", "= 2, \"b\", true, 3")
	n.must(t, "raw.Inverse(map[string]any{\"x\": k}, new(\"y\"))", "= map[x:K1one], \"\", 1")
	n.must(t, "raw.Inverse(map[int]int(nil), new(3))", "= map[], \"\", 0")
	n.must(t, "s := raw.Stringer(k)\ns, s == fmt.Stringer(k)", "= K1one, true")
	if got := n.run("raw.Types()"); !strings.Contains(got, "raw.go:40:6: the function typelinks is reflect.typelinks, which interpreted code cannot call") {
		t.Error(got)
	}
}
