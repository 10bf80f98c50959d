package vm

import (
	"go/ast"
	"go/types"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/rt"
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
		c.variables[v] = &variable{shape: r.shape, reg: r.reg, owned: r.owned}
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
		access := c.mapAccess(e, t)
		access.delete(c, m.reg, c.exprTo(e.Args[1], t.Key(), nil))
		return operand{}
	case "close":
		c.closeChannel(c.expr(e.Args[0], nil))
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
		c.do(opPanic, x.reg, 0, 0)
		return operand{}
	}
	c.fail(e, "the builtin %s", name)
	return operand{}
}

// measure returns what Sizeof, Alignof or Offsetof is for x, which has a type parameter in its type.
func (c *compiler) measure(x ast.Expr, name string) int64 {
	switch name {
	case "Sizeof":
		return int64(c.shapeOf(x).typ.Size())
	case "Alignof":
		return int64(c.shapeOf(x).typ.Align())
	}
	e := ast.Unparen(x).(*ast.SelectorExpr)
	t := c.typeOf(e.X)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	offset := uintptr(0)
	for _, f := range c.source.Info.Selections[e].Index() {
		offset += c.shape(e, t).typ.Field(f).Offset
		t = c.subst(t.Underlying().(*types.Struct).Field(f).Type())
	}
	return int64(offset)
}

// print compiles a call of print or println.
func (c *compiler) print(e *ast.CallExpr, name string) {
	registry := c.vm.config.Registry
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
	c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		list := make([]any, len(operands))
		for i, x := range operands {
			if x.width == "If" {
				list[i] = registry.Words(*anyAt(sb, x.reg))
			} else {
				list[i] = x.get(nb, sb, x.reg).Interface()
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
		o := opLen
		if name == "cap" {
			o = opCap
		}
		c.do(o, dst.reg, x.reg, 0)
	case *types.Map:
		at, from := dst.reg, x.reg
		c.native("len map", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*intAt(nb, at) = int64(len(*(*map[int]int)(unsafe.Pointer(pointerAt(sb, from)))))
		}})
	case *types.Chan:
		at, from, count := dst.reg, x.reg, func(c chan struct{}) int { return len(c) }
		if name == "cap" {
			count = func(c chan struct{}) int { return cap(c) }
		}
		c.native(name+" chan", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*intAt(nb, at) = int64(count(reinterpret[chan struct{}](*pointerAt(sb, from))))
		}})
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
		at, from, more, typ := dst.reg, x.reg, y.reg, s.typ
		c.native("append all "+typ.String(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
			*sliceAt(sb, at) = appendAll(*sliceAt(sb, from), *sliceAt(sb, more), typ)
		}})
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
	at, from, typ := dst.reg, x.reg, s.typ
	size := typ.Elem().Size()
	buffered := c.facts.Capacities[e] == facts.Buffered && typ.Elem() != typ && size > 0 && size <= facts.StackBuffer/2
	if len(values) == 1 && values[0].offset == 0 {
		n := appendNative(at, from, values[0], typ)
		if buffered {
			n = appendToBuffer(at, from, 1, typ, n, appendNative(at, at, values[0], typ))
		}
		c.native("append "+typ.String(), n)
		return dst
	}
	for i := range values {
		if values[i].offset != 0 {
			values[i] = operand{shape: values[i].shape, reg: c.address(values[i])}
		}
	}
	more := func(from uint16) *native {
		return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			h := *sliceAt(sb, from)
			if h.capacity-h.length < len(values) {
				h = growSlice(h, typ, len(values))
			}
			for _, v := range values {
				h = appendOne(h, typ, v.shape, nb, sb, v.reg)
			}
			*sliceAt(sb, at) = h
		}}
	}
	n := more(from)
	if buffered {
		n = appendToBuffer(at, from, len(values), typ, n, more(at))
	}
	c.native("append "+typ.String(), n)
	return dst
}

// appendToBuffer returns an append of n elements to the slice at from, of type typ. If the slice is empty,
// it first gets a buffer with the capacity of Go's stack buffer; see package facts. appendFrom appends to
// the slice at from, appendInPlace to the slice at at.
func appendToBuffer(at, from uint16, n int, typ reflect.Type, appendFrom, appendInPlace *native) *native {
	capacity, allocate := int(facts.StackBuffer/typ.Elem().Size()), sliceAllocator(typ)
	return &native{run: func(t *thread, nb, sb unsafe.Pointer) {
		h := *sliceAt(sb, from)
		if h.length != 0 || h.capacity >= n || n > capacity {
			appendFrom.run(t, nb, sb)
			return
		}
		*sliceAt(sb, at) = allocate(0, capacity)
		appendInPlace.run(t, nb, sb)
	}}
}

// appendedType returns the type of the last argument of append(s, x...).
func (c *compiler) appendedType(x ast.Expr, t types.Type) types.Type {
	if c.isNil(x) {
		return t
	}
	return c.typeOf(x)
}

// appendNative returns an append of one element, specialized for its representation.
func appendNative(at, from uint16, v operand, typ reflect.Type) *native {
	x := v.reg
	switch v.width {
	case "64":
		return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*(*[]int64)(unsafe.Add(sb, at)) = append(*(*[]int64)(unsafe.Add(sb, from)), *intAt(nb, x))
		}}
	case "8U", "8S":
		return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*(*[]byte)(unsafe.Add(sb, at)) = append(*(*[]byte)(unsafe.Add(sb, from)), byte(*intAt(nb, x)))
		}}
	case "32U", "32S":
		return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*(*[]int32)(unsafe.Add(sb, at)) = append(*(*[]int32)(unsafe.Add(sb, from)), int32(*intAt(nb, x)))
		}}
	case "C":
		return &native{run: func(_ *thread, _, sb unsafe.Pointer) {
			*(*[]complex128)(unsafe.Add(sb, at)) = append(*(*[]complex128)(unsafe.Add(sb, from)), *complex128At(sb, x))
		}}
	case "Str":
		return &native{run: func(_ *thread, _, sb unsafe.Pointer) {
			*(*[]string)(unsafe.Add(sb, at)) = append(*(*[]string)(unsafe.Add(sb, from)), *stringAt(sb, x))
		}}
	case "P":
		if v.file == reference {
			return &native{run: func(_ *thread, _, sb unsafe.Pointer) {
				*(*[]unsafe.Pointer)(unsafe.Add(sb, at)) = append(*(*[]unsafe.Pointer)(unsafe.Add(sb, from)), *pointerAt(sb, x))
			}}
		}
	}
	s := v.shape
	return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		*sliceAt(sb, at) = appendOne(*sliceAt(sb, from), typ, s, nb, sb, x)
	}}
}

// appendAll implements append(h, more...), where more may be a string.
func appendAll(h, more sliceHeader, typ reflect.Type) sliceHeader {
	if more.length == 0 {
		return h
	}
	if h.capacity-h.length < more.length {
		h = growSlice(h, typ, more.length)
	}
	more.capacity = more.length
	n := h.length
	h.length += more.length
	to := h
	to.data = unsafe.Add(h.data, uintptr(n)*typ.Elem().Size())
	to.length, to.capacity = more.length, more.length
	reflect.Copy(reflect.NewAt(typ, unsafe.Pointer(&to)).Elem(), reflect.NewAt(typ, unsafe.Pointer(&more)).Elem())
	return h
}

func (c *compiler) make(e *ast.CallExpr, want *operand) operand {
	s := c.shapeOf(e)
	length, capacity := noRegister, noRegister
	size := func(x ast.Expr) uint16 {
		v := c.expr(x, nil)
		if v.file != scalar || v.typ.Kind() == reflect.Float64 || v.typ.Kind() == reflect.Float32 {
			c.fail(e, "make with a size of type %s", v.typ)
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
	switch s.typ.Kind() {
	case reflect.Slice:
		c.native("make "+s.typ.String(), makeSlice(s.typ, dst.reg, length, capacity))
	case reflect.Map:
		c.makeMap(dst.reg, s.typ, length)
	case reflect.Chan:
		c.native("make "+s.typ.String(), makeChannel(s.typ, dst.reg, length))
	default:
		c.fail(e, "make of %s", s.typ)
	}
	return dst
}

// makeSlice returns an implementation of make for a slice. It checks the length and capacity as Go does.
func makeSlice(typ reflect.Type, at, length, capacity uint16) *native {
	size, allocate := int(typ.Elem().Size()), sliceAllocator(typ)
	return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		n := int(*intAt(nb, length))
		most := n
		if capacity != noRegister {
			most = int(*intAt(nb, capacity))
		}
		if n >= 0 && n <= most {
			rt.Allocate(most, size)
		}
		*sliceAt(sb, at) = allocate(n, most)
	}}
}

// makeElements emits an instruction that makes a slice with this number of elements in a register.
func (c *code) makeElements(typ reflect.Type, at uint16, length int) {
	allocate := sliceAllocator(typ)
	c.native("make "+typ.String(), &native{run: func(_ *thread, _, sb unsafe.Pointer) { *sliceAt(sb, at) = allocate(length, length) }})
}

func (c *compiler) new(e *ast.CallExpr, want *operand) operand {
	s := c.shapeOf(e)
	elem := c.shape(e, c.typeOf(e).Underlying().(*types.Pointer).Elem())
	if tv := c.source.Info.Types[e.Args[0]]; !tv.IsType() {
		// new(value)
		x := c.exprTo(e.Args[0], c.typeOf(e).Underlying().(*types.Pointer).Elem(), nil)
		t := c.temporary(s)
		c.emit(opNew, t.reg, 0, 0, c.memoryType(elem.typ), 0)
		c.store(t.reg, 0, x)
		return c.moveInto(t, want)
	}
	dst := c.destination(s, want)
	c.emit(opNew, dst.reg, 0, 0, c.memoryType(elem.typ), 0)
	return dst
}

func (c *compiler) copy(e *ast.CallExpr, want *operand) operand {
	x, y := c.expr(e.Args[0], nil), c.expr(e.Args[1], nil)
	dst := c.destination(intShape, want)
	at, to, from, typ := dst.reg, x.reg, y.reg, x.typ
	size := typ.Elem().Size()
	plain := !hasPointers(typ.Elem())
	c.native("copy "+typ.String(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		a, b := *sliceAt(sb, to), *sliceAt(sb, from)
		n := min(a.length, b.length)
		if n > 0 && plain {
			copy(unsafe.Slice((*byte)(a.data), uintptr(n)*size), unsafe.Slice((*byte)(b.data), uintptr(n)*size))
		} else if n > 0 {
			b.capacity = b.length
			reflect.Copy(reflect.NewAt(typ, unsafe.Pointer(&a)).Elem(), reflect.NewAt(typ, unsafe.Pointer(&b)).Elem())
		}
		*intAt(nb, at) = int64(n)
	}})
	return dst
}

func (c *compiler) clear(e *ast.CallExpr) operand {
	x := c.expr(e.Args[0], nil)
	at, typ := x.reg, x.typ
	c.native("clear", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
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
		switch kind := s.typ.Kind(); {
		case kind == reflect.Float64 || kind == reflect.Float32 || s.file == reference:
			c.minMaxNative(result, y, name)
		case s.file == scalar:
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
	switch x.typ.Kind() {
	case reflect.String:
		c.native(name, &native{run: func(_ *thread, _, sb unsafe.Pointer) {
			if least {
				*stringAt(sb, a) = min(*stringAt(sb, a), *stringAt(sb, b))
			} else {
				*stringAt(sb, a) = max(*stringAt(sb, a), *stringAt(sb, b))
			}
		}})
	case reflect.Float64:
		c.native(name, &native{run: func(_ *thread, nb, _ unsafe.Pointer) {
			if least {
				*floatAt(nb, a) = min(*floatAt(nb, a), *floatAt(nb, b))
			} else {
				*floatAt(nb, a) = max(*floatAt(nb, a), *floatAt(nb, b))
			}
		}})
	case reflect.Float32:
		c.native(name, &native{run: func(_ *thread, nb, _ unsafe.Pointer) {
			x, y := math.Float32frombits(uint32(*intAt(nb, a))), math.Float32frombits(uint32(*intAt(nb, b)))
			if least {
				x = min(x, y)
			} else {
				x = max(x, y)
			}
			*intAt(nb, a) = int64(math.Float32bits(x))
		}})
	default:
		c.fail(nil, "%s of %s", name, x.typ)
	}
}
