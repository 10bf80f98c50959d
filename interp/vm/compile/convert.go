package compile

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
)

// conversion compiles T(x).
func (c *compiler) conversion(e *ast.CallExpr, want *operand) operand {
	t := c.typeOf(e)
	x := e.Args[0]
	if c.isNil(x) || types.IsInterface(t) {
		return c.exprTo(x, t, want)
	}
	from, to := c.shapeOf(x), c.shape(e, t)
	fromKind, toKind := from.Type.Kind(), to.Type.Kind()
	switch {
	case from.File == vm.Scalar && to.File == vm.Scalar && fromKind != reflect.Bool:
		return c.convertScalar(c.expr(x, nil), from, to, want)
	case vm.IsComplex(to) && c.source.Info.Types[x].Value != nil:
		// T(1) in an instance of a generic function
		dst := c.destination(to, want)
		c.constantComplex(dst, c.source.Info.Types[x].Value)
		return dst
	case vm.IsComplex(from) && vm.IsComplex(to):
		return c.convertComplex(c.expr(x, nil), to, want)
	case toKind == reflect.String && from.File == vm.Scalar:
		return c.convertString(x, to, want, runeToString(!isSigned(fromKind)))
	case toKind == reflect.String && fromKind == reflect.Slice:
		if from.Type.Elem().Kind() == reflect.Uint8 {
			return c.convertString(x, to, want, bytesToString)
		}
		return c.convertString(x, to, want, runesToString)
	case fromKind == reflect.String && toKind == reflect.Slice:
		exact, short := c.source.Info.Types[x].Value != nil || c.facts.Capacities[e] == facts.Exact, c.facts.Capacities[e] == facts.Buffered
		if to.Type.Elem().Kind() == reflect.Uint8 {
			return c.convertString(x, to, want, stringToSlice(func(s string) []byte { return rt.TextBytes(s, exact, short) }))
		}
		return c.convertString(x, to, want, stringToSlice(func(s string) []rune { return rt.TextRunes(s, exact, short) }))
	case fromKind == reflect.Slice && toKind == reflect.Array:
		return c.arrayOf(c.expr(x, nil), to.Type, to, nil)
	case fromKind == reflect.Slice && toKind == reflect.Pointer:
		return c.arrayOf(c.expr(x, nil), to.Type.Elem(), to, want)
	case fromKind == toKind && from.Width == to.Width && fromKind != reflect.Interface: // the same representation
		v := c.moveInto(c.expr(x, want), want)
		v.Shape = to
		return v
	case fromKind == reflect.UnsafePointer || toKind == reflect.UnsafePointer:
		return c.convertPointer(e, from, to, want)
	}
	c.fail(e, "a conversion from %s to %s", from.Type, to.Type)
	return operand{}
}

// arrayOf loads the address of the array of type typ that x, a slice, begins with. result is the shape of the array or of a
// pointer to it.
func (c *code) arrayOf(x operand, typ reflect.Type, result vm.Shape, want *operand) operand {
	dst := c.destination(result, want)
	at, from, length, value := dst.reg, x.reg, typ.Len(), result.File == vm.Memory
	c.native("slice to array", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		h := *vm.SliceAt(sb, from)
		rt.ArrayLength(h.Length, length)
		if value && h.Data == nil {
			h.Data = unsafe.Pointer(new(struct{}))
		}
		*vm.PointerAt(sb, at) = h.Data
	}})
	return dst
}

// convertScalar converts between numeric types as compiled code does.
func (c *code) convertScalar(x operand, from, to vm.Shape, want *operand) operand {
	f, t := from.Type.Kind(), to.Type.Kind()
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
			c.move(operand{Shape: to, reg: dst.reg}, operand{Shape: to, reg: x.reg})
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
func (c *compiler) convertString(x ast.Expr, to vm.Shape, want *operand, convert func(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer)) operand {
	v := c.expr(x, nil)
	dst := c.destination(to, want)
	c.native("convert to "+to.Type.String(), &vm.Native{Run: convert(dst.reg, v.reg)})
	return dst
}

func runeToString(unsigned bool) func(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			n := *vm.IntAt(nb, from)
			if n != int64(rune(n)) || unsigned && n < 0 {
				n = '\uFFFD'
			}
			*vm.StringAt(sb, at) = string(rune(n))
		}
	}
}

func bytesToString(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *vm.Thread, _, sb unsafe.Pointer) {
		*vm.StringAt(sb, at) = string(*(*[]byte)(unsafe.Add(sb, from)))
	}
}

func runesToString(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(_ *vm.Thread, _, sb unsafe.Pointer) {
		*vm.StringAt(sb, at) = string(*(*[]rune)(unsafe.Add(sb, from)))
	}
}

func stringToSlice[T byte | rune](convert func(string) []T) func(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	return func(at, from uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
		return func(_ *vm.Thread, _, sb unsafe.Pointer) {
			*(*[]T)(unsafe.Add(sb, at)) = convert(*vm.StringAt(sb, from))
		}
	}
}

// Conversions from and to unsafe.Pointer, and the functions of package unsafe. They mean what they mean in compiled Go, since
// values in memory have its layout.

// convertPointer compiles the conversion e, of which one type is unsafe.Pointer.
func (c *compiler) convertPointer(e *ast.CallExpr, from, to vm.Shape, want *operand) operand {
	x := e.Args[0]
	switch {
	case from.Width == "P" && to.Width == "P" && from.Type.Kind() != reflect.Func && to.Type.Kind() != reflect.Func:
		v := c.moveInto(c.expr(x, want), want)
		v.Shape = to
		return v
	case to.Type.Kind() == reflect.Uintptr:
		i, ok := c.facts.Addresses[e]
		if !ok || i >= len(c.addresses) {
			c.fail(e, "an address in the body of a range over a function")
		}
		v := c.expr(x, nil)
		dst := c.destination(to, want)
		at, pointer, kept := dst.reg, v.reg, c.addresses[i]
		c.native("convert to uintptr", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			p := *vm.PointerAt(sb, pointer)
			*vm.PointerAt(sb, kept) = p
			*vm.IntAt(nb, at) = int64(uintptr(p))
		}})
		return dst
	case from.Type.Kind() == reflect.Uintptr:
		v := c.expr(x, nil)
		dst := c.destination(to, want)
		at, number := dst.reg, v.reg
		c.native("convert to unsafe.Pointer", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.PointerAt(sb, at) = *(*unsafe.Pointer)(unsafe.Pointer(vm.IntAt(nb, number)))
		}})
		return dst
	}
	c.fail(e, "a conversion from %s to %s", from.Type, to.Type)
	return operand{}
}

func typeText(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }

// maxAddresses limits the slots of a function for pointers that it converts to uintptr.
const maxAddresses = 200

// reserveAddresses reserves slots for the pointers that a function converts to uintptr. Compiled Go keeps these alive during the
// call that has the number as an argument, such as a system call; here they remain until the function returns.
func (c *compiler) reserveAddresses(n ast.Node) {
	if len(c.facts.Addresses) > maxAddresses {
		c.fail(n, "many conversions from unsafe.Pointer to uintptr")
	}
	for range len(c.facts.Addresses) {
		c.addresses = append(c.addresses, c.referenceRegister())
	}
}

// unsafe compiles the call of a function of package unsafe.
func (c *compiler) unsafe(e *ast.CallExpr, name string, want *operand) operand {
	s := c.shapeOf(e)
	t := c.typeOf(e.Args[0])
	if c.isNil(e.Args[0]) {
		t = types.Typ[types.UnsafePointer] // of unsafe.Add; the *byte of unsafe.String has the same memory
	}
	x := c.exprTo(e.Args[0], t, nil)
	from, count := x.reg, vm.NoRegister
	if len(e.Args) == 2 {
		count = c.expr(e.Args[1], nil).reg
	}
	dst := c.destination(s, want)
	at := dst.reg
	var run func(_ *vm.Thread, nb, sb unsafe.Pointer)
	switch name {
	case "Add":
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.PointerAt(sb, at) = unsafe.Add(*vm.PointerAt(sb, from), *vm.IntAt(nb, count))
		}
	case "SliceData":
		run = func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.PointerAt(sb, at) = vm.SliceAt(sb, from).Data }
	case "StringData":
		run = func(_ *vm.Thread, _, sb unsafe.Pointer) {
			*vm.PointerAt(sb, at) = unsafe.Pointer(unsafe.StringData(*vm.StringAt(sb, from)))
		}
	case "String":
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.StringAt(sb, at) = rt.UnsafeString((*byte)(*vm.PointerAt(sb, from)), int(*vm.IntAt(nb, count)))
		}
	case "Slice":
		size := s.Type.Elem().Size()
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			p, n := *vm.PointerAt(sb, from), int(*vm.IntAt(nb, count))
			rt.CheckUnsafeSlice(p, size, n)
			*vm.SliceAt(sb, at) = vm.SliceHeader{Data: p, Length: n, Capacity: n}
		}
	}
	c.native("unsafe."+name, &vm.Native{Run: run})
	return dst
}
