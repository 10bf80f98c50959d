package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// runtimeError is a panic value of Go's runtime.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (runtimeError) RuntimeError() {}

func (runtimeError) compiledName() string { return "runtime.errorString" }

// boundsError is a runtimeError about an index or a slice bound.
type boundsError string

func (e boundsError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (boundsError) RuntimeError() {}

func (boundsError) compiledName() string { return "runtime.boundsError" }

// assertionError is the error of a failed type assertion.
type assertionError string

func (e assertionError) Error() string { return string(e) }

// RuntimeError implements runtime.Error.
func (assertionError) RuntimeError() {}

func (assertionError) compiledName() string { return "*runtime.TypeAssertionError" }

var (
	_ runtime.Error = runtimeError("")
	_ runtime.Error = boundsError("")
	_ runtime.Error = assertionError("")
)

const nilDereference = runtimeError("invalid memory address or nil pointer dereference")

// NilDereference returns the panic value of a nil pointer dereference.
func NilDereference() any { return nilDereference }

// ownText is a text with which a cell panics and with which package reflect could panic on behalf of yaegi, for another
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
// "main.T.M", on an interface that holds a nil pointer.
func NilReceiver(method string) any {
	dot := strings.LastIndexByte(method, '.')
	_, name, _ := strings.Cut(method[:dot], ".")
	return plainError("value method " + method + " called using nil *" + name + " pointer")
}

// compiledName returns the name of a compiled type. For a substitute it returns the name
// of the type that it replaces.
func compiledName(t reflect.Type) string {
	if t.Implements(substituteType) && !(t.Kind() == reflect.Pointer && t.Elem().Implements(substituteType)) {
		return reflect.Zero(t).Interface().(substitute).compiledName()
	}
	return reflectionNames.Replace(t.String())
}

// reflectionNames replaces the names of our substitutes for types of package reflect.
var reflectionNames = strings.NewReplacer(reflect.TypeFor[Registry]().PkgPath()+".Reflect", "reflect.", "rt.Reflect", "reflect.")

// substitute is a type of this package that appears in cells as another type.
type substitute interface{ compiledName() string }

var substituteType = reflect.TypeFor[substitute]()

// reflectPanics maps the beginning of a panic text of package reflect, which yaegi uses,
// to the error that Go panics with. The numbers in some of Go's texts are lost.
var reflectPanics = []struct {
	prefix string
	err    runtime.Error
}{
	{"reflect: slice index out of range", boundsError("index out of range")},
	{"reflect: array index out of range", boundsError("index out of range")},
	{"reflect: string index out of range", boundsError("index out of range")},
	{"reflect.Value.Slice: slice of unaddressable array", runtimeError("slice of unaddressable value")},
	{"reflect.Value.Slice", boundsError("slice bounds out of range")},
	{"reflect.MakeSlice: negative len", runtimeError("makeslice: len out of range")},
	{"reflect.MakeSlice: negative cap", runtimeError("makeslice: cap out of range")},
	{"reflect.MakeSlice: len > cap", runtimeError("makeslice: cap out of range")},
	{"reflect.MakeChan: negative buffer size", plainError("makechan: size out of range")},
	{"reflect: call of nil function", nilDereference},
	{"reflect.Value.Call: call of nil function", nilDereference},
	{"reflect: call of reflect.Value.Call on zero Value", nilDereference},
	{"reflect: indirection through nil pointer", nilDereference},
	{"reflect: Call using zero Value argument", nilDereference},
	{"reflect: Method on nil interface value", nilDereference},
	{"reflect.Append: slice overflow", runtimeError("growslice: len out of range")},
	{"reflect.Value.Grow: slice overflow", runtimeError("growslice: len out of range")},
	{"reflect.Value.SetMapIndex: assignment to entry in nil map", plainError("assignment to entry in nil map")},
}

// plainError is an error of the runtime whose text has no prefix.
type plainError string

func (e plainError) Error() string { return string(e) }

// RuntimeError implements runtime.Error.
func (plainError) RuntimeError() {}

func (plainError) compiledName() string { return "runtime.plainError" }

// Recovered converts a value that recover returned in yaegi to the value that it returns
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
	case runtime.Error:
		if strings.HasSuffix(x.Error(), "allocation size out of range") {
			return runtimeError("makeslice: len out of range")
		}
	}
	return x
}

// translatePanic returns the runtime.Error that corresponds to a panic text of yaegi. It
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
	v = r.Plain(v)
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
	name, raw := r.TypeName(v), reflect.ValueOf(r.Value(v))
	switch {
	case !basicKind(raw.Kind()):
		return "(" + name + ") " + r.Sprintf("%+v", v)
	case name == raw.Kind().String():
		return builtinText(raw)
	case raw.Kind() == reflect.String:
		return name + "(\"" + raw.String() + "\")"
	case raw.Kind() == reflect.Complex64, raw.Kind() == reflect.Complex128:
		return name + builtinText(raw)
	}
	return name + "(" + builtinText(raw) + ")"
}
