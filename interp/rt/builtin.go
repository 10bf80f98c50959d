package rt

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// BuiltinPrint is the builtin print. Its arguments are raw values; the caller passes
// interface values through Words.
func (r *Registry) BuiltinPrint(args ...any) {
	var b strings.Builder
	for _, x := range args {
		b.WriteString(builtinOperand(x))
	}
	io.WriteString(r.config.Stderr, b.String())
}

// BuiltinPrintln is the builtin println.
func (r *Registry) BuiltinPrintln(args ...any) {
	var b strings.Builder
	for i, x := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(builtinOperand(x))
	}
	b.WriteByte('\n')
	io.WriteString(r.config.Stderr, b.String())
}

// printedWords is what print shows of an interface value: the addresses of its type and of
// its data.
type printedWords [2]uintptr

// Words returns the operand to pass to BuiltinPrint for an interface value.
func (r *representations) Words(x any) any {
	return *(*printedWords)(unsafe.Pointer(&x))
}

func builtinOperand(x any) string {
	switch x := x.(type) {
	case nil:
		return "nil"
	case printedWords:
		return fmt.Sprintf("(%#x,%#x)", x[0], x[1])
	}
	return builtinText(reflect.ValueOf(x))
}

func basicKind(k reflect.Kind) bool {
	return reflect.Bool <= k && k <= reflect.Complex128 || k == reflect.String
}

// builtinText formats v as the runtime's print does.
func builtinText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	case reflect.String:
		return v.String()
	case reflect.Slice:
		return fmt.Sprintf("[%d/%d]%#x", v.Len(), v.Cap(), v.Pointer())
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Sprintf("%#x", v.Pointer())
	}
	return fmt.Sprint(v)
}
