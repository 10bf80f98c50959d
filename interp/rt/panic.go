package rt

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"strings"
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

// NilDereference is what the use of a nil pointer panics with.
func NilDereference() any { return nilDereference }

// compiledName is the name of a compiled type; the types above go under the
// name of the runtime's type that they stand for.
func compiledName(t reflect.Type) string {
	if t.Implements(standInType) {
		return reflect.Zero(t).Interface().(standIn).compiledName()
	}
	return t.String()
}

// standIn is a type of this package that a cell must take for another one.
type standIn interface{ compiledName() string }

var standInType = reflect.TypeFor[standIn]()

// Index returns i. It panics as Go does if i is no index of a sequence of
// length n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		if i < 0 {
			panic(boundsError("index out of range [" + strconv.Itoa(i) + "]"))
		}
		panic(boundsError("index out of range [" + strconv.Itoa(i) + "] with length " + strconv.Itoa(n)))
	}
	return i
}

// absent stands for a bound that a slice expression does not have.
const absent = math.MinInt

// SliceLow returns the lower bound of a slice expression on an operand of the
// given length and capacity. It panics as Go does if the bounds are out of range.
// The capacity of a string or an array, whose length counts, is absent.
func SliceLow(low, high, most, length, capacity int) int {
	limit, limited := capacity, " with capacity "
	if capacity == absent {
		limit, limited = length, " with length "
	}
	switch {
	case most != absent:
		checkBound("::", most, "", limit, limited)
		checkBound(":", high, ":", most, "")
	case high != absent:
		checkBound(":", high, "", limit, limited)
	default:
		high = length
	}
	end := ""
	if most != absent {
		end = ":"
	}
	if low == absent {
		return 0
	}
	if low < 0 {
		panic(boundsError("slice bounds out of range [" + strconv.Itoa(low) + ":" + end + "]"))
	}
	if low > high {
		panic(boundsError("slice bounds out of range [" + strconv.Itoa(low) + ":" + strconv.Itoa(high) + end + "]"))
	}
	return low
}

// checkBound panics if bound is not in [0, limit]. The limit is told after the
// bound, in words or, without these, behind a colon.
func checkBound(before string, bound int, after string, limit int, words string) {
	text := "slice bounds out of range [" + before + strconv.Itoa(bound)
	switch {
	case bound < 0:
		panic(boundsError(text + after + "]"))
	case bound > limit && words != "":
		panic(boundsError(text + "]" + words + strconv.Itoa(limit)))
	case bound > limit:
		panic(boundsError(text + after + strconv.Itoa(limit) + "]"))
	}
}

// engineTexts maps the beginning of a panic text of package reflect, through
// which the engine works, to the error that Go raises in its place. The numbers
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
	{"reflect: cannot convert slice with length", boundsError("cannot convert slice with length")},
	{"reflect.Value.SetMapIndex: assignment to entry in nil map", plainError("assignment to entry in nil map")},
}

// plainError is an error of the runtime whose text has no prefix.
type plainError string

func (e plainError) Error() string { return string(e) }

// RuntimeError makes it a runtime.Error.
func (plainError) RuntimeError() {}

func (plainError) compiledName() string { return "runtime.plainError" }

// Recovered returns what recover would return in Go, for what it returned in
// the engine: a value in place of a reflect.Value, an error of the runtime in
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

// fromEngine returns the runtime.Error that a panic text of the engine stands
// for, and any other text as it is.
func fromEngine(text string) any {
	for _, t := range engineTexts {
		if strings.HasPrefix(text, t.prefix) {
			return t.err
		}
	}
	return text
}

// PanicText is what Go prints after "panic: " for the value v.
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
