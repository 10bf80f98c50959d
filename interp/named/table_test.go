package named

import (
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// TestMethodOffset calls methods by their words in a method table.
func TestMethodOffset(t *testing.T) {
	call := func(x [2]unsafe.Pointer, offset uintptr) string {
		f := unsafe.Add(x[0], offset)
		return (*(*func(unsafe.Pointer) string)(unsafe.Pointer(&f)))(x[1])
	}
	addr := net.Addr(&net.TCPAddr{Port: 80})
	for method, want := range map[string]string{"Network": addr.Network(), "String": addr.String()} {
		offset, ok := MethodOffset(reflect.TypeFor[net.Addr](), method)
		if !ok {
			t.Fatalf("no offset of %s", method)
		}
		if got := call(*(*[2]unsafe.Pointer)(unsafe.Pointer(&addr)), offset); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
	stringer := fmt.Stringer(reflect.ValueOf(struct{ N int }{3})) // its value is not a pointer
	offset, _ := MethodOffset(reflect.TypeFor[fmt.Stringer](), "String")
	if got, want := call(*(*[2]unsafe.Pointer)(unsafe.Pointer(&stringer)), offset), stringer.String(); got != want {
		t.Errorf("String: %q, want %q", got, want)
	}
	var r io.Reader = strings.NewReader("abc")
	if offset, ok := MethodOffset(reflect.TypeFor[io.Reader](), "Close"); ok {
		t.Errorf("io.Reader has no method Close, but an offset of it: %d (%T)", offset, r)
	}
}

// TestTable compares tables with those of compiled code, and checks a value in an interface that its type does not implement for
// package reflect.
func TestTable(t *testing.T) {
	var o Owner
	defer o.Close()
	var compiled fmt.Stringer = reflect.ValueOf(3)
	if got := Table(reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[reflect.Value]()); got != *(*unsafe.Pointer)(unsafe.Pointer(&compiled)) {
		t.Error("the table of a compiled type is another one than in compiled code")
	}

	signature := reflect.TypeFor[func() string]()
	of, err := o.New(Declaration{Name: "p.T", Path: "p", Memory: reflect.TypeFor[int](), Methods: []MethodName{{Name: "Shown"}, {Name: "hidden"}}})
	if err == nil {
		err = of.Complete(Parts{}, []Method{{Name: "Shown", Type: signature, Call: func(reflect.Value, []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf("x")} }}, {Name: "hidden", Type: signature}})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		methods    []Method
		implements bool
		result     any // of Shown, or the panic of its call
	}{
		{[]Method{{Name: "Shown", Type: signature}}, true, "x"},
		{[]Method{{Name: "Shown", Type: signature}, {Name: "hidden", Type: signature}}, true, "x"},
		{[]Method{{Name: "Other", Type: signature}, {Name: "Shown", Type: signature}}, false, "compiled packages cannot call this method of a cell"},
	} {
		in, err := o.New(Declaration{Name: "p.I", Path: "p", Memory: reflect.TypeFor[error]()})
		if err == nil {
			err = in.Complete(Parts{Methods: row.methods}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := of.Type().Implements(in.Type()); got != row.implements {
			t.Errorf("%v: implemented: %t", row.methods, got)
		}
		number := 7
		table := Table(in.Type(), of.Type())
		value := reflect.NewAt(in.Type(), unsafe.Pointer(&[2]unsafe.Pointer{table, unsafe.Pointer(&number)})).Elem()
		i, held := TypesOf(table)
		if x := value.Elem(); x.Type() != of.Type() || x.Int() != 7 || i != in.Type() || held != of.Type() || Table(in.Type(), of.Type()) != table {
			t.Errorf("%v: the interface has the value %v", row.methods, x)
		}
		got := func() (result any) {
			defer func() {
				if x := recover(); x != nil {
					result = x
				}
			}()
			return value.MethodByName("Shown").Call(nil)[0].Interface()
		}()
		if got != row.result {
			t.Errorf("%v: Shown gives %v, want %v", row.methods, got, row.result)
		}
	}
}
