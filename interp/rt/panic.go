package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// runtimeError is an error that Go's runtime would have raised.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError makes it a runtime.Error.
func (runtimeError) RuntimeError() {}

func (runtimeError) compiledName() string { return "runtime.errorString" }

// boundsError is a runtimeError about an index.
type boundsError string

func (e boundsError) Error() string { return "runtime error: " + string(e) }

// RuntimeError makes it a runtime.Error.
func (boundsError) RuntimeError() {}

func (boundsError) compiledName() string { return "runtime.boundsError" }

// assertionError is the error of a failed type assertion.
type assertionError string

func (e assertionError) Error() string { return string(e) }

// RuntimeError makes it a runtime.Error.
func (assertionError) RuntimeError() {}

func (assertionError) compiledName() string { return "*runtime.TypeAssertionError" }

var (
	_ runtime.Error = runtimeError("")
	_ runtime.Error = boundsError("")
	_ runtime.Error = assertionError("")
)

const nilDereference = runtimeError("invalid memory address or nil pointer dereference")

// NilDereference returns what the use of a nil pointer panics with.
func NilDereference() any { return nilDereference }

// PanicValue returns the value of panic(x), which for a nil x is an error.
func PanicValue(x any) any {
	if x == nil {
		return new(runtime.PanicNilError)
	}
	return x
}

// NilReceiver returns what the call of a method with a value receiver, as "main.T.M",
// panics with when it finds a nil pointer in the interface.
func NilReceiver(method string) any {
	dot := strings.LastIndexByte(method, '.')
	_, name, _ := strings.Cut(method[:dot], ".")
	return plainError("value method " + method + " called using nil *" + name + " pointer")
}

// compiledName returns the name of a compiled type; the types above go under the
// name of the runtime's type that they stand for.
func compiledName(t reflect.Type) string {
	if t.Implements(standInType) && !(t.Kind() == reflect.Pointer && t.Elem().Implements(standInType)) {
		return reflect.Zero(t).Interface().(standIn).compiledName()
	}
	return reflectionNames.Replace(t.String())
}

// reflectionNames gives the types that stand for those of package reflect their
// names.
var reflectionNames = strings.NewReplacer(reflect.TypeFor[Registry]().PkgPath()+".Reflect", "reflect.", "rt.Reflect", "reflect.")

// standIn is a type of this package that a cell must take for another one.
type standIn interface{ compiledName() string }

var standInType = reflect.TypeFor[standIn]()

// engineTexts maps the beginning of a panic text of package reflect, through
// which yaegi works, to the error that Go raises in its place. The numbers
// that Go tells with some of them are lost.
var engineTexts = []struct {
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

// RuntimeError makes it a runtime.Error.
func (plainError) RuntimeError() {}

func (plainError) compiledName() string { return "runtime.plainError" }

// Recovered returns what recover would return in Go, for what it returned in
// yaegi: a value in place of a reflect.Value, an error of the runtime in
// place of what package reflect says.
func Recovered(x any) any {
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
		return fromEngine(x)
	case *reflect.ValueError:
		if x.Kind == reflect.Invalid && !raisedByCell(x) {
			return nilDereference
		}
	case runtime.Error:
		if strings.HasSuffix(x.Error(), "allocation size out of range") {
			return runtimeError("makeslice: len out of range")
		}
	}
	return x
}

// fromEngine returns the runtime.Error that a panic text of yaegi stands
// for, and any other text as it is.
func fromEngine(text string) any {
	if unsafe.StringData(text) == unsafe.StringData(zeroArgument) {
		return text
	}
	for _, t := range engineTexts {
		if strings.HasPrefix(text, t.prefix) {
			return t.err
		}
	}
	return text
}

// PanicText returns what Go prints after "panic: " for the value v.
func (r *Registry) PanicText(v any) string {
	v = r.Plain(Recovered(v))
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
