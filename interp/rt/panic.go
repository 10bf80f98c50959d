package rt

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

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

// Index returns i. It panics as Go does if i is not a valid index of a sequence of
// length n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		_ = make([]struct{}, n)[i]
	}
	return i
}

// IndexUnsigned is Index for an index that may overflow an int.
func IndexUnsigned(i uint64, n int) int {
	if i >= uint64(n) {
		_ = make([]struct{}, n)[i]
	}
	return int(i)
}

// A Bound is a bound of a slice expression. The zero Bound is one that the expression leaves out.
type Bound struct {
	Given bool
	Value int
	Large uint64 // used instead of Value if the bound is larger than math.MaxInt
}

// At returns the bound n.
func At(n int) Bound { return Bound{Given: true, Value: n} }

// AtUnsigned returns the bound n, which may be larger than math.MaxInt.
func AtUnsigned(n uint64) Bound {
	if n > math.MaxInt {
		return Bound{Given: true, Value: math.MaxInt, Large: n}
	}
	return At(int(n))
}

// Or returns the value of b, or n if the expression leaves it out.
func (b Bound) Or(n int) int {
	if b.Given {
		return b.Value
	}
	return n
}

func (b Bound) String() string {
	if b.Large > 0 {
		return strconv.FormatUint(b.Large, 10)
	}
	return strconv.Itoa(b.Value)
}

func (b Bound) exceeds(other Bound) bool {
	return b.Value > other.Value || b.Value == other.Value && b.Large > other.Large
}

// CheckSlice panics as Go does if the bounds of a slice expression are out of range for
// an operand of the given length. The limit of the bounds of a slice is its capacity,
// that of a string or an array its length.
func CheckSlice(low, high, maximum Bound, length, limit int, isSlice bool) {
	end, limited := At(limit), " with length "
	if isSlice {
		limited = " with capacity "
	}
	switch {
	case maximum.Given:
		checkBound("::", maximum, "", end, limited)
		checkBound(":", high, ":", maximum, "")
	case high.Given:
		checkBound(":", high, "", end, limited)
	default:
		high = At(length)
	}
	after := ""
	if maximum.Given {
		after = ":"
	}
	switch {
	case !low.Given:
	case low.Value < 0:
		panic(goruntime.BoundsError("slice bounds out of range [" + low.String() + ":" + after + "]"))
	case low.exceeds(high):
		panic(goruntime.BoundsError("slice bounds out of range [" + low.String() + ":" + high.String() + after + "]"))
	}
}

// checkBound panics if b is not in [0, limit]. The text of the panic has the limit after the
// bound: in words or, if there are none, after a colon.
func checkBound(before string, b Bound, after string, limit Bound, words string) {
	text := "slice bounds out of range [" + before
	switch {
	case b.Value < 0:
		panic(goruntime.BoundsError(text + b.String() + after + "]"))
	case b.exceeds(limit) && words != "":
		panic(goruntime.BoundsError(text + b.String() + "]" + words + limit.String()))
	case b.exceeds(limit):
		panic(goruntime.BoundsError(text + b.String() + after + limit.String() + "]"))
	}
}

// ArrayLength panics as Go does when a slice of length n is converted to an
// array of a larger length, or to a pointer to one.
func ArrayLength(n, length int) {
	if n < length {
		panic(goruntime.BoundsError("cannot convert slice with length " + strconv.Itoa(n) +
			" to array or pointer to array with length " + strconv.Itoa(length)))
	}
}

// NegativeShift returns the panic value of a shift by a negative count.
func NegativeShift() any { return goruntime.ErrorString("negative shift amount") }

// CheckUnsafeSlice panics as unsafe.Slice does if there cannot be length elements of the given size at p.
func CheckUnsafeSlice(p unsafe.Pointer, size uintptr, length int) {
	over, bytes := bits.Mul(uint(size), uint(length))
	switch {
	case p == nil && length > 0:
		panic(goruntime.ErrorString("unsafe.Slice: ptr is nil and len is not zero"))
	case length < 0 || over != 0 || p != nil && uintptr(bytes) > -uintptr(p):
		panic(goruntime.ErrorString("unsafe.Slice: len out of range"))
	}
}

// UnsafeString is unsafe.String.
func UnsafeString(pointer *byte, length int) string {
	switch {
	case length < 0:
		panic(goruntime.ErrorString("unsafe.String: len out of range"))
	case pointer == nil && length > 0:
		panic(goruntime.ErrorString("unsafe.String: ptr is nil and len is not zero"))
	}
	return unsafe.String(pointer, length)
}

// uncatchable is a panic value, such as the interrupt of a cell, that recover in cells does not return. Go ends the process instead,
// or has nothing like it.
type uncatchable interface{ Uncatchable() }

// uncaught is what RaiseAgain panics with for such a value if compiled functions that recover the panics of methods, to print them,
// are being called. Printing it panics with it again, from where package fmt lets it pass.
type uncaught struct{ value any }

// Uncatchable marks the panic as one that recover in a cell does not return.
func (*uncaught) Uncatchable() {}

// printers are the compiled functions that recover the panics of the methods that they call, and printing the functions in them
// that then print the value.
var printers, printing = map[string]bool{
	"fmt.(*pp).handleMethods":             true,
	"text/template.safeCall":              true,
	"log/slog.(*handleState).appendValue": true,
}, map[string]bool{
	"fmt.(*pp).catchPanic":                      true,
	"text/template.safeCall.func1":              true,
	"log/slog.(*handleState).appendValue.func1": true,
}

// RaiseAgain is deferred by methods that compiled packages call: one that recovers sees the panic of compiled Go, also if the
// cell runs the method.
func RaiseAgain() {
	r := recover()
	if r == nil {
		return
	}
	r = Recovered(r)
	if _, ok := r.(uncatchable); ok && isCalling(printers, 1024) {
		r = &uncaught{r}
	}
	panic(r)
}

// isCalling reports whether one of the functions is active in the calling goroutine, depth calls away at most.
func isCalling(functions map[string]bool, depth int) bool {
	pcs := make([]uintptr, depth)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if functions[f.Function] {
			return true
		}
		if !more {
			return false
		}
	}
}

// Format implements fmt.Formatter.
func (u *uncaught) Format(s fmt.State, verb rune) {
	if isCalling(printing, 32) {
		panic(u)
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), u.value)
}
