package rt

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/named"
	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

var nilDereference = goruntime.ErrorString("invalid memory address or nil pointer dereference")

// NilDereference returns the panic value of a nil pointer dereference.
func NilDereference() any { return nilDereference }

// NilReceiver returns the panic value of calling a method with a value receiver, such as
// "example.com/p.T.M", on an interface that holds a nil pointer.
func NilReceiver(method string) any {
	dot := strings.LastIndexByte(method, '.')
	_, name, _ := strings.Cut(method[strings.LastIndexByte(method, '/')+1:dot], ".")
	return goruntime.PlainError("value method " + method + " called using nil *" + name + " pointer")
}

// Recovered converts a value that recover has returned in the VM, or in compiled code, to the value that it returns in Go.
func Recovered(x any) any {
	switch x := x.(type) {
	case *uncaught:
		return x.value
	case *named.NilReceiverError:
		return goruntime.PlainError(x.Error())
	}
	return x
}

// PanicText returns the text that Go prints after "panic: " for the value v, which is one that Recovered returned.
func (r *Registry) PanicText(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string:
		return v
	}
	name, raw := fmt.Sprintf("%T", v), reflect.ValueOf(r.Value(v))
	switch {
	case !basicKind(raw.Kind()):
		return "(" + name + ") " + fmt.Sprintf("%+v", v)
	case name == raw.Kind().String():
		return builtinText(raw)
	case raw.Kind() == reflect.String:
		return name + "(\"" + raw.String() + "\")"
	case raw.Kind() == reflect.Complex64, raw.Kind() == reflect.Complex128:
		return name + builtinText(raw)
	}
	return name + "(" + builtinText(raw) + ")"
}
