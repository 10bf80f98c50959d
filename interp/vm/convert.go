package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/rt"
)

// conversion compiles T(x).
func (c *compiler) conversion(e *ast.CallExpr, want *operand) operand {
	t := c.typeOf(e)
	x := e.Args[0]
	if c.isNil(x) || types.IsInterface(t) {
		return c.exprTo(x, t, want)
	}
	from, to := c.shapeOf(x), c.shape(e, t)
	fromKind, toKind := from.typ.Kind(), to.typ.Kind()
	switch {
	case from.file == scalar && to.file == scalar && fromKind != reflect.Bool:
		return c.convertScalar(c.expr(x, nil), from, to, want)
	case isComplex(to) && c.source.Info.Types[x].Value != nil:
		// T(1) in an instance of a generic function
		dst := c.destination(to, want)
		c.constantComplex(dst, c.source.Info.Types[x].Value)
		return dst
	case isComplex(from) && isComplex(to):
		return c.convertComplex(c.expr(x, nil), to, want)
	case toKind == reflect.String && from.file == scalar:
		return c.convertString(x, to, want, runeToString(!isSigned(fromKind)))
	case toKind == reflect.String && fromKind == reflect.Slice:
		if from.typ.Elem().Kind() == reflect.Uint8 {
			return c.convertString(x, to, want, bytesToString)
		}
		return c.convertString(x, to, want, runesToString)
	case fromKind == reflect.String && toKind == reflect.Slice:
		exact, short := c.source.Info.Types[x].Value != nil || c.facts.Capacities[e] == facts.Exact, c.facts.Capacities[e] == facts.Buffered
		if to.typ.Elem().Kind() == reflect.Uint8 {
			return c.convertString(x, to, want, stringToSlice(func(s string) []byte { return rt.TextBytes(s, exact, short) }))
		}
		return c.convertString(x, to, want, stringToSlice(func(s string) []rune { return rt.TextRunes(s, exact, short) }))
	case fromKind == reflect.Slice && toKind == reflect.Array:
		return c.arrayOf(c.expr(x, nil), to.typ, to, nil)
	case fromKind == reflect.Slice && toKind == reflect.Pointer:
		return c.arrayOf(c.expr(x, nil), to.typ.Elem(), to, want)
	case fromKind == toKind && from.width == to.width && fromKind != reflect.Interface: // the same representation
		v := c.moveInto(c.expr(x, want), want)
		v.shape = to
		return v
	case fromKind == reflect.UnsafePointer || toKind == reflect.UnsafePointer:
		return c.convertPointer(e, from, to, want)
	}
	c.fail(e, "a conversion from %s to %s", from.typ, to.typ)
	return operand{}
}

// arrayOf loads the address of the array of type typ that x, a slice, begins with. result is the shape of the array or of a
// pointer to it.
func (c *code) arrayOf(x operand, typ reflect.Type, result shape, want *operand) operand {
	dst := c.destination(result, want)
	at, from, length, value := dst.reg, x.reg, typ.Len(), result.file == memory
	c.native("slice to array", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		h := *sliceAt(sb, from)
		rt.ArrayLength(h.length, length)
		if value && h.data == nil {
			h.data = unsafe.Pointer(new(struct{}))
		}
		*pointerAt(sb, at) = h.data
	}})
	return dst
}

// convertScalar converts between numeric types as compiled code does.
func (c *code) convertScalar(x operand, from, to shape, want *operand) operand {
	f, t := from.typ.Kind(), to.typ.Kind()
	dst := c.destination(to, want)
	isFloat := func(k reflect.Kind) bool { return k == reflect.Float64 || k == reflect.Float32 }
	letter := map[reflect.Kind]string{reflect.Float64: "F", reflect.Float32: "G"}
	switch {
	case isFloat(f) && isFloat(t):
		if f == t {
			c.move(dst, x)
		} else {
			c.do(opNamed(letter[f]+letter[t]), dst.reg, x.reg, 0)
		}
	case isFloat(f):
		c.do(opNamed(letter[f]+integerSuffix(t)), dst.reg, x.reg, 0)
	case isFloat(t):
		source := "U"
		if isSigned(f) {
			source = "I"
		}
		c.do(opNamed(source+letter[t]), dst.reg, x.reg, 0)
	default:
		if o, narrow := wraps[t]; narrow && f != t {
			c.do(o, dst.reg, x.reg, 0)
		} else {
			c.move(operand{shape: to, reg: dst.reg}, operand{shape: to, reg: x.reg})
		}
	}
	return dst
}

// integerSuffix returns the suffix of the conversion to an integer type.
func integerSuffix(k reflect.Kind) string {
	switch k {
	case reflect.Int8:
		return "I8"
	case reflect.Int16:
		return "I16"
	case reflect.Int32:
		return "I32"
	case reflect.Int, reflect.Int64:
		return "I64"
	case reflect.Uint8:
		return "U8"
	case reflect.Uint16:
		return "U16"
	case reflect.Uint32:
		return "U32"
	}
	return "U64"
}

// convertString compiles a conversion from or to a string by a native function.
func (c *compiler) convertString(x ast.Expr, to shape, want *operand, convert func(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer)) operand {
	v := c.expr(x, nil)
	dst := c.destination(to, want)
	c.native("convert to "+to.typ.String(), &native{run: convert(dst.reg, v.reg)})
	return dst
}

func runeToString(unsigned bool) func(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n := *intAt(nb, from)
			if n != int64(rune(n)) || unsigned && n < 0 {
				n = '\uFFFD'
			}
			*stringAt(sb, at) = string(rune(n))
		}
	}
}

func bytesToString(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, _, sb unsafe.Pointer) { *stringAt(sb, at) = string(*(*[]byte)(unsafe.Add(sb, from))) }
}

func runesToString(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *thread, _, sb unsafe.Pointer) { *stringAt(sb, at) = string(*(*[]rune)(unsafe.Add(sb, from))) }
}

func stringToSlice[T byte | rune](convert func(string) []T) func(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	return func(at, from uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
		return func(_ *thread, _, sb unsafe.Pointer) { *(*[]T)(unsafe.Add(sb, at)) = convert(*stringAt(sb, from)) }
	}
}
