package compile

import (
	"go/ast"
	"go/types"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/vm"
)

// spreadBuiltin returns e, the call of a builtin function, or if its argument is a call with several results, a call with these as
// arguments. done forgets that call.
func (c *compiler) spreadBuiltin(e *ast.CallExpr) (call *ast.CallExpr, done func()) {
	if len(e.Args) != 1 {
		return e, func() {}
	}
	tuple, ok := c.source.Info.Types[e.Args[0]].Type.(*types.Tuple)
	if !ok {
		return e, func() {}
	}
	info := c.source.Info
	call = &ast.CallExpr{Fun: e.Fun, Lparen: e.Lparen, Rparen: e.Rparen}
	info.Types[call] = info.Types[e]
	for i, r := range c.compileCall(ast.Unparen(e.Args[0]).(*ast.CallExpr)) {
		v := types.NewVar(e.Args[0].Pos(), nil, "result", c.subst(tuple.At(i).Type()))
		c.variables[v] = &variable{Shape: r.Shape, reg: r.reg, owned: r.owned}
		id := &ast.Ident{NamePos: e.Args[0].Pos(), Name: v.Name()}
		info.Uses[id] = v
		call.Args = append(call.Args, id)
	}
	return call, func() {
		delete(info.Types, call)
		for _, id := range call.Args {
			delete(c.variables, info.Uses[id.(*ast.Ident)])
			delete(info.Uses, id.(*ast.Ident))
		}
	}
}

// builtin compiles a call of a builtin function.
func (c *compiler) builtin(e *ast.CallExpr, name string, want *operand) operand {
	e, done := c.spreadBuiltin(e)
	defer done()
	switch name {
	case "len", "cap":
		return c.length(e, name, want)
	case "append":
		return c.append(e, want)
	case "make":
		return c.make(e, want)
	case "new":
		return c.new(e, want)
	case "copy":
		return c.copy(e, want)
	case "delete":
		t := c.typeOf(e.Args[0]).Underlying().(*types.Map)
		m := c.expr(e.Args[0], nil)
		a := c.mapAccess(e, t)
		c.native(a.Name("delete"), a.Remove(m.reg, c.address(c.exprTo(e.Args[1], t.Key(), nil))))
		return operand{}
	case "close":
		c.native("close", vm.CloseChannel(c.expr(e.Args[0], nil).reg))
		return operand{}
	case "clear":
		return c.clear(e)
	case "min", "max":
		return c.minMax(e, name, want)
	case "recover":
		return c.recoverCall(e, want)
	case "complex":
		return c.makeComplex(e, want)
	case "real", "imag":
		return c.part(e, name, want)
	case "Add", "Slice", "SliceData", "String", "StringData":
		return c.unsafe(e, name, want)
	case "Sizeof", "Alignof", "Offsetof":
		dst := c.destination(c.shapeOf(e), want)
		c.constantBits(dst.reg, c.measure(e.Args[0], name))
		return dst
	case "print", "println":
		c.print(e, name)
		return operand{}
	case "panic":
		t := types.NewInterfaceType(nil, nil)
		x := c.exprTo(e.Args[0], t, nil)
		c.do(vm.OpPanic, x.reg, 0, 0)
		return operand{}
	}
	c.fail(e, "the builtin %s", name)
	return operand{}
}

// measure returns what Sizeof, Alignof or Offsetof is for x, which has a type parameter in its type.
func (c *compiler) measure(x ast.Expr, name string) int64 {
	switch name {
	case "Sizeof":
		return int64(c.shapeOf(x).Type.Size())
	case "Alignof":
		return int64(c.shapeOf(x).Type.Align())
	}
	e := ast.Unparen(x).(*ast.SelectorExpr)
	t := c.typeOf(e.X)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	offset := uintptr(0)
	for _, f := range c.source.Info.Selections[e].Index() {
		offset += c.shape(e, t).Type.Field(f).Offset
		t = c.subst(t.Underlying().(*types.Struct).Field(f).Type())
	}
	return int64(offset)
}

// print compiles a call of print or println.
func (c *compiler) print(e *ast.CallExpr, name string) {
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(e, "the builtin %s", name)
	}
	print := registry.BuiltinPrint
	if name == "println" {
		print = registry.BuiltinPrintln
	}
	var operands []operand
	for _, x := range e.Args {
		operands = append(operands, c.value(x, types.Default(c.typeOf(x))))
	}
	c.native(name, &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		list := make([]any, len(operands))
		for i, x := range operands {
			if x.Width == "If" {
				list[i] = registry.Words(*vm.AnyAt(sb, x.reg))
			} else {
				list[i] = x.Get(nb, sb, x.reg).Interface()
			}
		}
		print(list...)
	}})
}

func (c *compiler) length(e *ast.CallExpr, name string, want *operand) operand {
	x := c.expr(e.Args[0], nil)
	dst := c.destination(intShape, want)
	switch t := c.typeOf(e.Args[0]).Underlying().(type) {
	case *types.Slice, *types.Basic:
		o := vm.OpLen
		if name == "cap" {
			o = vm.OpCap
		}
		c.do(o, dst.reg, x.reg, 0)
	case *types.Map:
		at, from := dst.reg, x.reg
		c.native("len map", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.IntAt(nb, at) = int64(len(*(*map[int]int)(unsafe.Pointer(vm.PointerAt(sb, from)))))
		}})
	case *types.Chan:
		c.native(name+" chan", vm.ChannelLength(dst.reg, x.reg, name == "cap"))
	case *types.Array:
		c.constantBits(dst.reg, t.Len())
	case *types.Pointer:
		c.constantBits(dst.reg, t.Elem().Underlying().(*types.Array).Len())
	default:
		c.fail(e, "%s of %s", name, t)
	}
	return dst
}

// append compiles append(s, x, y), append(s, t...) and append(bytes, text...).
func (c *compiler) append(e *ast.CallExpr, want *operand) operand {
	t := c.typeOf(e)
	s := c.shape(e, t)
	elem := t.Underlying().(*types.Slice).Elem()
	x := c.exprTo(e.Args[0], t, nil)
	if e.Ellipsis.IsValid() {
		y := c.exprTo(e.Args[1], c.appendedType(e.Args[1], t), nil)
		dst := c.destination(s, want)
		c.native("append all "+s.Type.String(), vm.AppendSlice(dst.reg, x.reg, y.reg, s.Type))
		return dst
	}
	if len(e.Args) == 1 {
		return c.moveInto(x, want)
	}
	values := make([]operand, len(e.Args)-1)
	for i, a := range e.Args[1:] {
		values[i] = c.exprTo(a, elem, nil)
	}
	dst := c.destination(s, want)
	registers := make([]vm.Register, len(values))
	for i, v := range values {
		v.reg = c.addressIfMemory(v)
		registers[i] = v.register()
	}
	n := vm.AppendValues(dst.reg, x.reg, registers, s.Type)
	if size := s.Type.Elem().Size(); c.facts.Capacities[e] == facts.Buffered && s.Type.Elem() != s.Type && size > 0 && size <= facts.StackBuffer/2 {
		n = vm.AppendToBuffer(dst.reg, x.reg, registers, s.Type, int(facts.StackBuffer/size))
	}
	c.native("append "+s.Type.String(), n)
	return dst
}

// appendedType returns the type of the last argument of append(s, x...).
func (c *compiler) appendedType(x ast.Expr, t types.Type) types.Type {
	if c.isNil(x) {
		return t
	}
	return c.typeOf(x)
}

func (c *compiler) make(e *ast.CallExpr, want *operand) operand {
	s := c.shapeOf(e)
	length, capacity := vm.NoRegister, vm.NoRegister
	size := func(x ast.Expr) uint16 {
		v := c.expr(x, nil)
		if v.File != vm.Scalar || v.Type.Kind() == reflect.Float64 || v.Type.Kind() == reflect.Float32 {
			c.fail(e, "make with a size of type %s", v.Type)
		}
		return v.reg // a uint64 that is too large for an int is as wrong as a negative number
	}
	if len(e.Args) > 1 {
		length = size(e.Args[1])
	}
	if len(e.Args) > 2 {
		capacity = size(e.Args[2])
	}
	dst := c.destination(s, want)
	switch s.Type.Kind() {
	case reflect.Slice:
		c.native("make "+s.Type.String(), vm.MakeSlice(s.Type, dst.reg, length, capacity))
	case reflect.Map:
		c.makeMap(dst.reg, s.Type, length)
	case reflect.Chan:
		c.native("make "+s.Type.String(), vm.MakeChannel(s.Type, dst.reg, length))
	default:
		c.fail(e, "make of %s", s.Type)
	}
	return dst
}

// makeElements emits an instruction that makes a slice with this number of elements in a register.
func (c *code) makeElements(typ reflect.Type, at uint16, length int) {
	c.native("make "+typ.String(), vm.MakeElements(typ, at, length))
}

func (c *compiler) new(e *ast.CallExpr, want *operand) operand {
	s := c.shapeOf(e)
	elem := c.shape(e, c.typeOf(e).Underlying().(*types.Pointer).Elem())
	if tv := c.source.Info.Types[e.Args[0]]; !tv.IsType() {
		// new(value)
		x := c.exprTo(e.Args[0], c.typeOf(e).Underlying().(*types.Pointer).Elem(), nil)
		t := c.temporary(s)
		c.emit(vm.OpNew, t.reg, 0, 0, c.memoryType(elem.Type), 0)
		c.store(t.reg, 0, x)
		return c.moveInto(t, want)
	}
	dst := c.destination(s, want)
	c.emit(vm.OpNew, dst.reg, 0, 0, c.memoryType(elem.Type), 0)
	return dst
}

func (c *compiler) copy(e *ast.CallExpr, want *operand) operand {
	x, y := c.expr(e.Args[0], nil), c.expr(e.Args[1], nil)
	dst := c.destination(intShape, want)
	c.native("copy "+x.Type.String(), vm.CopySlice(dst.reg, x.reg, y.reg, x.Type))
	return dst
}

func (c *compiler) clear(e *ast.CallExpr) operand {
	x := c.expr(e.Args[0], nil)
	at, typ := x.reg, x.Type
	c.native("clear", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		reflect.NewAt(typ, unsafe.Add(sb, at)).Elem().Clear()
	}})
	return operand{}
}

// minMax compiles min and max.
func (c *compiler) minMax(e *ast.CallExpr, name string, want *operand) operand {
	t := c.typeOf(e)
	s := c.shape(e, t)
	result := c.temporary(s)
	c.move(result, c.expr(e.Args[0], &result))
	for _, a := range e.Args[1:] {
		y := c.expr(a, nil)
		switch kind := s.Type.Kind(); {
		case kind == reflect.Float64 || kind == reflect.Float32 || s.File == vm.Reference:
			c.minMaxNative(result, y, name)
		case s.File == vm.Scalar:
			skip := newLabel()
			o := opNamed("If" + "Le" + suffix(kind, "Le"))
			if name == "min" {
				c.jump(skip, o, result.reg, y.reg, 0)
			} else {
				c.jump(skip, o, y.reg, result.reg, 0)
			}
			c.move(result, y)
			c.bind(skip)
		default:
			c.fail(e, "%s of %s", name, t)
		}
	}
	return c.moveInto(result, want)
}

func (c *code) minMaxNative(x, y operand, name string) {
	a, b, least := x.reg, y.reg, name == "min"
	switch x.Type.Kind() {
	case reflect.String:
		c.native(name, &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
			if least {
				*vm.StringAt(sb, a) = min(*vm.StringAt(sb, a), *vm.StringAt(sb, b))
			} else {
				*vm.StringAt(sb, a) = max(*vm.StringAt(sb, a), *vm.StringAt(sb, b))
			}
		}})
	case reflect.Float64:
		c.native(name, &vm.Native{Run: func(_ *vm.Thread, nb, _ unsafe.Pointer) {
			if least {
				*vm.FloatAt(nb, a) = min(*vm.FloatAt(nb, a), *vm.FloatAt(nb, b))
			} else {
				*vm.FloatAt(nb, a) = max(*vm.FloatAt(nb, a), *vm.FloatAt(nb, b))
			}
		}})
	case reflect.Float32:
		c.native(name, &vm.Native{Run: func(_ *vm.Thread, nb, _ unsafe.Pointer) {
			x, y := math.Float32frombits(uint32(*vm.IntAt(nb, a))), math.Float32frombits(uint32(*vm.IntAt(nb, b)))
			if least {
				x = min(x, y)
			} else {
				x = max(x, y)
			}
			*vm.IntAt(nb, a) = int64(math.Float32bits(x))
		}})
	default:
		c.fail(nil, "%s of %s", name, x.Type)
	}
}

func (c *compiler) mapAccess(n ast.Node, t *types.Map) *vm.MapAccess {
	return c.vm.MapAccess(c.shape(n, c.subst(t.Key())), c.shape(n, c.subst(t.Elem())))
}

// checkStorable emits a panic if the entry that x op= y or x++ is about to read cannot be stored. Go's error for
// storing differs from the one for reading.
func (c *code) checkStorable(p location) {
	if p.kind == inMapEntry && holdsInterface(p.access.Key.Type) { // it may turn out to be unhashable
		c.native(p.access.Name("store"), p.access.CheckStorable(p.reg, c.address(p.key)))
	}
}

// increase compiles m[k] += x, for an integer x of 64 bits, with one search instead of two if the element is present. It returns false for other
// types.
func (c *code) increase(p location, x func() operand) bool {
	if p.kind != inMapEntry || !p.access.CanIncrease() {
		return false
	}
	k := c.addressIfMemory(p.key)
	c.native(p.access.Name("increase"), p.access.Increase(p.reg, k, x().reg))
	return true
}

// mapGet reads a map element. found, if not nil, is the register for the second result.
func (c *code) mapGet(p location, found, want *operand) operand {
	ok := vm.NoRegister
	if found != nil {
		ok = found.reg
	}
	dst := c.destination(p.Shape, want)
	dst.owned = p.File == vm.Memory
	c.native(p.access.Name("get"), p.access.Get(p.reg, c.addressIfMemory(p.key), dst.reg, ok))
	return dst
}

func (c *code) mapSet(p location, x operand) {
	c.native(p.access.Name("set"), p.access.Set(p.reg, c.addressIfMemory(p.key), c.addressIfMemory(x)))
}

func (c *code) makeMap(at uint16, typ reflect.Type, size uint16) {
	c.native("make "+typ.String(), vm.MakeMap(typ, at, size))
}
