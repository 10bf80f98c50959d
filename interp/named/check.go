package named

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// An UnsupportedError reports that types cannot be made in this program.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("types of cells cannot be made with %s for %s/%s: %s; build Quern with a Go release that it supports", runtime.Version(), runtime.GOOS, runtime.GOARCH, e.Reason)
}

// Check returns an *UnsupportedError if types cannot be made, because the Go release or the architecture is not supported.
var Check = sync.OnceValue(func() error {
	reason := ""
	switch {
	case Stubs == 0:
		reason = "there is no assembly for this architecture"
	default:
		reason = checkDescriptors()
	}
	if reason == "" {
		reason = checkMade()
	}
	if reason != "" {
		return &UnsupportedError{reason}
	}
	return nil
})

// checkDescriptors compares the descriptors of compiled types, as this package understands them, with package reflect. It
// only reads, and returns what differs.
func checkDescriptors() string {
	type probe struct {
		A int `tag:"x"`
		_ []string
	}
	all := []reflect.Type{
		reflect.TypeFor[int8](), reflect.TypeFor[string](), reflect.TypeFor[*probe](), reflect.TypeFor[[]probe](), reflect.TypeFor[<-chan string](),
		reflect.TypeFor[[3]probe](), reflect.TypeFor[map[string]probe](), reflect.TypeFor[func(int, ...string) error](), reflect.TypeFor[error](), reflect.TypeFor[probe](),
	}
	for _, t := range all {
		c := (*commonType)(pointerOf(t))
		if c.size != t.Size() || int(c.align) != t.Align() || reflect.Kind(c.kind) != t.Kind() || (c.equal != nil) != t.Comparable() ||
			c.flags&flagNamed != 0 != (t.Name() != "") || c.ptrBytes > c.size {
			return fmt.Sprintf("the descriptor of %s has another layout", t)
		}
		if !checkParts(t) {
			return fmt.Sprintf("the descriptor of the components of %s has another layout", t)
		}
	}
	return ""
}

// checkParts is checkDescriptors for the components of t.
func checkParts(t reflect.Type) bool {
	p := pointerOf(t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return (*elemType)(p).elem == pointerOf(t.Elem())
	case reflect.Chan:
		c := (*chanType)(p)
		return c.elem == pointerOf(t.Elem()) && c.direction == uintptr(t.ChanDir())
	case reflect.Array:
		a := (*arrayType)(p)
		return a.elem == pointerOf(t.Elem()) && a.length == uintptr(t.Len()) && a.slice == pointerOf(reflect.SliceOf(t.Elem()))
	case reflect.Map:
		m := (*mapType)(p)
		return m.key == pointerOf(t.Key()) && m.elem == pointerOf(t.Elem()) && m.groupSize == typeAt(m.group).Size() && m.mapLayout.flags < 1<<8
	case reflect.Func:
		f := (*funcType)(p)
		variadic := uint16(1 << 15)
		return int(f.in) == t.NumIn() && f.out&variadic != 0 == t.IsVariadic() && int(f.out&^variadic) == t.NumOut() && signature(t)[t.NumIn()] == pointerOf(t.Out(0))
	case reflect.Interface:
		return len((*interfaceType)(p).methods) == t.NumMethod()
	case reflect.Struct:
		for i, f := range (*structType)(p).fields {
			if want := t.Field(i); f.typ != pointerOf(want.Type) || f.offset != want.Offset || *f.name&nameExported != 0 != want.IsExported() || *f.name&nameTag != 0 != (want.Tag != "") {
				return false
			}
		}
		return len((*structType)(p).fields) == t.NumField()
	}
	return true
}

// probe is an interface that the types of checkMade implement.
type probe interface{ Probe(n int) string }

// checkMade makes a type of each kind, uses it, and returns what was wrong.
func checkMade() (reason string) {
	defer func() {
		if r := recover(); r != nil {
			reason = fmt.Sprint("the use of a type that was made failed: ", r)
		}
	}()
	signature := reflect.TypeFor[func(int) string]()
	method := Method{Name: "Probe", Type: signature, Call: func(receiver reflect.Value, in []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint(receiver.Kind(), " ", in[0]))}
	}}
	var owner Owner
	defer owner.Close()
	for _, memory := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[[]int](), reflect.TypeFor[[2]string](), reflect.TypeFor[map[string]int](),
		reflect.TypeFor[chan int](), reflect.TypeFor[func(int) error](), reflect.TypeFor[struct {
			A *int
			B string
		}](), reflect.TypeFor[struct{ P *int }](),
	} {
		made, err := owner.make(Declaration{Name: "main.Probe", Path: "example.com/main", Memory: memory, Methods: []MethodName{{Name: "Probe"}}})
		if err == nil {
			err = made.Complete(Parts{}, []Method{method})
		}
		if err != nil {
			return err.Error()
		}
		t := made.Type()
		if t.Name() != "Probe" || t.String() != "main.Probe" || t.PkgPath() != "example.com/main" || t.Kind() != memory.Kind() || reflect.PointerTo(t).String() != "*main.Probe" || reflect.PointerTo(t).Elem() != t {
			return fmt.Sprintf("a type with the memory of %s is %s %s", memory, t.Kind(), t)
		}
		x := reflect.New(t)
		want := memory.Kind().String() + " 7"
		for _, v := range []reflect.Value{x, x.Elem()} {
			p, ok := v.Interface().(probe)
			if !ok || p.Probe(7) != want || v.Type().Method(0).Func.Call([]reflect.Value{v, reflect.ValueOf(7)})[0].String() != want {
				return fmt.Sprintf("a method of a type with the memory of %s cannot be called", memory)
			}
		}
		if t.Kind() == reflect.Map {
			m := reflect.MakeMap(t)
			m.SetMapIndex(reflect.ValueOf("a"), reflect.ValueOf(1))
			if m.Len() != 1 || m.MapIndex(reflect.ValueOf("a")).Int() != 1 {
				return "a map of a type that was made loses its elements"
			}
		}
	}
	face, err := owner.make(Declaration{Name: "main.Prober", Path: "example.com/main", Memory: reflect.TypeFor[error]()})
	if err == nil {
		err = face.Complete(Parts{Methods: []Method{{Name: "Probe", Type: signature}}}, nil)
	}
	if err != nil {
		return err.Error()
	}
	if t := face.Type(); !t.Implements(reflect.TypeFor[probe]()) || !reflect.TypeFor[probe]().Implements(t) {
		return "an interface type that was made has other methods"
	}
	return checkMemory()
}

// checkMemory checks that the garbage collector finds the pointers in values of types that were made.
func checkMemory() string {
	var owner Owner
	memory := reflect.TypeFor[struct {
		N int
		P *[64]int
	}]()
	made, err := owner.make(Declaration{Name: "main.Probe", Path: "main", Memory: memory})
	if err == nil {
		err = made.Complete(Parts{}, nil)
	}
	if err != nil {
		return err.Error()
	}
	c, from := (*commonType)(pointerOf(made.Type())), (*commonType)(pointerOf(memory))
	if c.ptrBytes != 2*unsafe.Sizeof(uintptr(0)) || c.gcData != from.gcData || *c.gcData != 2 {
		return "the garbage collector would not find the pointers of a type that was made"
	}
	return ""
}
