package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/quernlab/quern/interp/named"
	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

var nilDereference = goruntime.ErrorString("invalid memory address or nil pointer dereference")

// NilDereference returns the panic value of a nil pointer dereference.
func NilDereference() any { return nilDereference }

// ownText is a text with which a cell panics and with which package reflect could panic on behalf of the VM, for another
// reason. Recovered returns it as a string.
type ownText string

// ownError is a *reflect.ValueError of the same kind.
type ownError struct{ error }

// PanicValue returns the value that panic(x) panics with: an error if x is nil.
func PanicValue(x any) any {
	switch x := x.(type) {
	case nil:
		return new(runtime.PanicNilError)
	case string:
		if translatePanic(x) != x {
			return ownText(x)
		}
	case *reflect.ValueError:
		return ownError{x}
	}
	return x
}

// keepText is deferred by functions that do what those of package reflect do, for code of a cell: the text of their panics is
// that of package reflect in Go, too.
func keepText() {
	if r := recover(); r != nil {
		panic(PanicValue(r))
	}
}

// NilReceiver returns the panic value of calling a method with a value receiver, such as
// "example.com/p.T.M", on an interface that holds a nil pointer.
func NilReceiver(method string) any {
	dot := strings.LastIndexByte(method, '.')
	_, name, _ := strings.Cut(method[strings.LastIndexByte(method, '/')+1:dot], ".")
	return goruntime.PlainError("value method " + method + " called using nil *" + name + " pointer")
}

// reflectPanics maps the beginning of a panic text of package reflect, which runs some operations of a cell,
// to the error that Go panics with. The numbers in some of Go's texts are lost.
var reflectPanics = []struct {
	prefix string
	err    runtime.Error
}{
	{"reflect: slice index out of range", goruntime.BoundsError("index out of range")},
	{"reflect: array index out of range", goruntime.BoundsError("index out of range")},
	{"reflect: string index out of range", goruntime.BoundsError("index out of range")},
	{"reflect.Value.Slice: slice of unaddressable array", goruntime.ErrorString("slice of unaddressable value")},
	{"reflect.Value.Slice", goruntime.BoundsError("slice bounds out of range")},
	{"reflect.MakeSlice: negative len", goruntime.ErrorString("makeslice: len out of range")},
	{"reflect.MakeSlice: negative cap", goruntime.ErrorString("makeslice: cap out of range")},
	{"reflect.MakeSlice: len > cap", goruntime.ErrorString("makeslice: cap out of range")},
	{"reflect.MakeChan: negative buffer size", goruntime.PlainError("makechan: size out of range")},
	{"reflect: call of nil function", nilDereference},
	{"reflect.Value.Call: call of nil function", nilDereference},
	{"reflect: call of reflect.Value.Call on zero Value", nilDereference},
	{"reflect: indirection through nil pointer", nilDereference},
	{"reflect: Call using zero Value argument", nilDereference},
	{"reflect: Method on nil interface value", nilDereference},
	{"reflect.Append: slice overflow", goruntime.ErrorString("growslice: len out of range")},
	{"reflect.Value.Grow: slice overflow", goruntime.ErrorString("growslice: len out of range")},
	{"reflect.Value.SetMapIndex: assignment to entry in nil map", goruntime.PlainError("assignment to entry in nil map")},
}

// Recovered converts a value that recover returned in the VM to the value that it returns
// in Go: a reflect.Value to the value in it, and a panic of package reflect to the error
// of the runtime.
func Recovered(x any) any {
	switch x := raised(x).(type) {
	case ownText:
		return string(x)
	case ownError:
		return x.error
	default:
		return x
	}
}

// raised is Recovered for a panic that goes on: Recovered may be applied to the result.
func raised(x any) any {
	if u, ok := x.(*uncaught); ok {
		return u.value
	}
	for {
		v, ok := x.(reflect.Value)
		if !ok {
			break
		}
		if !v.IsValid() {
			return nil
		}
		x = v.Interface()
	}
	switch x := x.(type) {
	case string:
		return translatePanic(x)
	case *reflect.ValueError:
		if x.Kind == reflect.Invalid {
			return nilDereference
		}
	case *named.NilReceiverError:
		return goruntime.PlainError(x.Error())
	case runtime.Error:
		if strings.HasSuffix(x.Error(), "allocation size out of range") {
			return goruntime.ErrorString("makeslice: len out of range")
		}
	}
	return x
}

// translatePanic returns the runtime.Error that corresponds to a panic text of package reflect. It
// returns any other text unchanged.
func translatePanic(text string) any {
	for _, t := range reflectPanics {
		if strings.HasPrefix(text, t.prefix) {
			return t.err
		}
	}
	return text
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
