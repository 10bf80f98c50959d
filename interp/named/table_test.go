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
