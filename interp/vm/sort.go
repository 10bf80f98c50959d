package vm

import (
	"container/heap"
	"go/ast"
	"go/types"
	"reflect"
	"sort"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// The functions of packages sort and container/heap call functions of cells so often that calls through
// package reflect would dominate their time. Here the callbacks run on a thread that is borrowed for the
// whole call.

// sortFunctions are the functions with a callback of two indexes.
var sortFunctions = map[string]func(list any, less func(i, j int) bool){
	"sort.Slice": sort.Slice, "sort.SliceStable": sort.SliceStable,
}

// collectionFunctions are the functions whose argument implements heap.Interface or sort.Interface. i is
// the second argument if it is an index, x if it is an element.
var collectionFunctions = map[string]func(c heap.Interface, i int, x any) any{
	"sort.Sort":             func(c heap.Interface, _ int, _ any) any { sort.Sort(c); return nil },
	"sort.Stable":           func(c heap.Interface, _ int, _ any) any { sort.Stable(c); return nil },
	"sort.IsSorted":         func(c heap.Interface, _ int, _ any) any { return sort.IsSorted(c) },
	"container/heap.Init":   func(c heap.Interface, _ int, _ any) any { heap.Init(c); return nil },
	"container/heap.Push":   func(c heap.Interface, _ int, x any) any { heap.Push(c, x); return nil },
	"container/heap.Pop":    func(c heap.Interface, _ int, _ any) any { return heap.Pop(c) },
	"container/heap.Remove": func(c heap.Interface, i int, _ any) any { return heap.Remove(c, i) },
	"container/heap.Fix":    func(c heap.Interface, i int, _ any) any { heap.Fix(c, i); return nil },
}

// sortsSlice reports whether e calls one of sortFunctions with a slice.
func (c *compiler) sortsSlice(e *ast.CallExpr, o *types.Func) bool {
	if sortFunctions[o.FullName()] == nil {
		return false
	}
	_, ok := c.typeOf(e.Args[0]).Underlying().(*types.Slice)
	return ok
}

// sortSlice compiles a call of one of sortFunctions.
func (c *compiler) sortSlice(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	list := c.snapshot(c.expr(e.Args[0], nil))
	less := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil)
	at, from, typ, vm, run := list.reg, less.reg, list.typ, c.vm, sortFunctions[o.FullName()]
	c.native(o.FullName(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		less, done := vm.less(*pointerAt(sb, from))
		run(reflect.NewAt(typ, unsafe.Add(sb, at)).Elem().Interface(), less)
		done()
	}})
	return nil
}

// less returns the function value at p. If the VM runs it, it is called on a borrowed thread, which done
// releases.
func (vm *VM) less(p unsafe.Pointer) (less func(i, j int) bool, done func()) {
	if p == nil || closureOf(p) == nil {
		return *(*func(i, j int) bool)(unsafe.Pointer(&p)), func() {}
	}
	f, t := closureOf(p), vm.threads.Get().(*thread)
	return func(i, j int) bool {
		t.prepare(f.function)
		*intAt(t.nb, 0), *intAt(t.nb, 8) = int64(i), int64(j)
		f.function.capture(t.sb, f.captured)
		t.execute(f.function)
		return *intAt(unsafe.Pointer(&t.scalars[0]), 0) != 0
	}, t.release
}

// prepare prepares a borrowed thread for a call of fn.
func (t *thread) prepare(fn *Function) {
	if t.vm.stop.Load() {
		t.vm.config.Stop()
	}
	t.reset() // the files may have been reallocated
	if fn.scalars > t.scalarEnd-uintptr(t.nb) || fn.pointers > t.slotEnd-uintptr(t.sb) {
		t.nb, t.sb = t.grow(t.nb, t.sb, fn.scalars, fn.pointers)
	}
	t.fn, t.ip = fn, nil
}

// collection implements heap.Interface by the methods of a value of a cell. They run on a borrowed thread.
type collection struct {
	*thread
	methods  *[methodCount]collectionMethod
	receiver unsafe.Pointer // the pointer that a pointer to the value would hold
}

// collectionMethod is a method of a collection.
type collectionMethod struct {
	function *Function
	shape    shape  // of the receiver
	deref    bool   // the collection is a pointer, the receiver is not
	name     string // such as "main.T.M"
	typ      *memoryType
}

// Indexes of the methods of a collection.
const (
	methodLen = iota
	methodLess
	methodSwap
	methodPush
	methodPop
	methodCount
)

var methodNames = [methodCount]string{"Len", "Less", "Swap", "Push", "Pop"}

func (c collection) Len() int {
	c.call(methodLen, 0, 0, nil)
	return int(*intAt(unsafe.Pointer(&c.scalars[0]), 0))
}

func (c collection) Less(i, j int) bool {
	c.call(methodLess, i, j, nil)
	return *intAt(unsafe.Pointer(&c.scalars[0]), 0) != 0
}

func (c collection) Swap(i, j int) { c.call(methodSwap, i, j, nil) }
func (c collection) Push(x any)    { c.call(methodPush, 0, 0, x) }

func (c collection) Pop() any {
	c.call(methodPop, 0, 0, nil)
	return *anyAt(unsafe.Pointer(&c.slots[0]), uint16(slotOffset))
}

// call calls a method with those of the arguments i, j and x that it has.
func (c collection) call(method, i, j int, x any) {
	m := &c.methods[method]
	fn := m.function.current()
	c.prepare(fn)
	*intAt(c.nb, 0), *intAt(c.nb, 8) = int64(i), int64(j)
	from := c.receiver
	if m.deref {
		if from = *(*unsafe.Pointer)(from); from == nil {
			panic(rt.NilReceiver(m.name))
		}
	}
	switch {
	case m.shape.file != memory:
		m.shape.fill(c.nb, c.sb, uint16(slotOffset), from)
	case fn.interfaceEntry == fn:
		*pointerAt(c.sb, uint16(slotOffset)) = from // the method only reads it
	default:
		*pointerAt(c.sb, uint16(slotOffset)) = m.typ.clone(from)
	}
	if method == methodPush {
		*anyAt(c.sb, uint16(slotOffset+slotSize)) = x
	}
	c.execute(fn)
}

// callCollection compiles a call of one of collectionFunctions.
func (c *compiler) callCollection(e *ast.CallExpr, o *types.Func, sig *types.Signature, methods *[methodCount]collectionMethod) []operand {
	argument, reversed := c.collection(e)
	list := c.snapshot(c.expr(argument, nil))
	list.reg, list.offset = c.addressIfMemory(list), 0
	index, element := noRegister, noRegister
	if len(e.Args) > 1 {
		x := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil)
		if x.file == scalar {
			index = x.reg
		} else {
			element = x.reg
		}
	}
	var results []operand
	for v := range sig.Results().Variables() {
		results = append(results, c.temporary(c.shape(e, v.Type())))
	}
	vm, run, s := c.vm, collectionFunctions[o.FullName()], list.shape
	c.native(o.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		borrowed := vm.threads.Get().(*thread)
		x := collection{thread: borrowed, methods: methods}
		if s.file == memory {
			x.receiver = *pointerAt(sb, list.reg)
		} else {
			copied := new(sliceHeader) // the largest value in a register
			s.spill(nb, sb, list.reg, unsafe.Pointer(copied))
			x.receiver = unsafe.Pointer(copied)
		}
		var i int
		var v any
		if index != noRegister {
			i = int(*intAt(nb, index))
		}
		if element != noRegister {
			v = *anyAt(sb, element)
		}
		var given heap.Interface = x
		if reversed {
			given = reverse{x}
		}
		result := run(given, i, v)
		borrowed.release()
		if len(results) == 0 {
			return
		}
		if b, ok := result.(bool); ok && results[0].file == scalar {
			*intAt(nb, results[0].reg) = boolToInt(b)
			return
		}
		*anyAt(sb, results[0].reg) = result
	}})
	return results
}

// reverse implements sort.Reverse for a collection.
type reverse struct{ collection }

func (r reverse) Less(i, j int) bool { return r.collection.Less(j, i) }

// collection returns the collection that is the argument of one of collectionFunctions, and whether
// sort.Reverse reverses it.
func (c *compiler) collection(e *ast.CallExpr) (x ast.Expr, reversed bool) {
	x = e.Args[0]
	for isReverse(c, x) {
		x, reversed = ast.Unparen(x).(*ast.CallExpr).Args[0], !reversed
	}
	return x, reversed
}

// cellCollection returns the methods of the collection if e calls one of collectionFunctions with a value
// of a type of a cell whose methods are compiled, else nil.
func (c *compiler) cellCollection(e *ast.CallExpr, o *types.Func) *[methodCount]collectionMethod {
	if collectionFunctions[o.FullName()] == nil {
		return nil
	}
	x, _ := c.collection(e)
	t := types.Unalias(c.typeOf(x))
	base := t
	if p, ok := t.(*types.Pointer); ok {
		base = types.Unalias(p.Elem())
	}
	named, ok := base.(*types.Named)
	if !ok || !c.vm.config.Interpreted(named) || !isCaptured(c.shape(e, t)) {
		return nil
	}
	return c.collectionMethods(e, t, o.Pkg().Path() == "container/heap")
}

// isCaptured reports whether a collection can hold the address of a value of shape s.
func isCaptured(s shape) bool { return s.file != scalar && s.width != "If" && !isComplex(s) }

// isReverse reports whether e is a call of sort.Reverse.
func isReverse(c *compiler, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	o := c.calledFunction(call)
	return o != nil && o.FullName() == "sort.Reverse"
}

// collectionMethods returns the methods of t that the function calls: those of heap.Interface if all is
// set, else those of sort.Interface. It returns nil if the VM does not run all of them itself.
func (c *compiler) collectionMethods(n ast.Node, t types.Type, all bool) *[methodCount]collectionMethod {
	var list [methodCount]collectionMethod
	for i, name := range methodNames {
		if i > methodSwap && !all {
			break
		}
		o, path, _ := types.LookupFieldOrMethod(t, false, nil, name)
		m, ok := o.(*types.Func)
		if !ok || len(path) != 1 {
			return nil
		}
		recv := m.Signature().Recv().Type()
		f := c.unit.callee(m.Origin())
		if f == nil {
			f = c.methodInstance(m, nil)
		}
		s := c.shape(n, recv)
		if f == nil || types.IsInterface(recv) || !isCaptured(s) {
			return nil
		}
		_, isPointer := types.Unalias(t).(*types.Pointer)
		_, byPointer := types.Unalias(recv).(*types.Pointer)
		list[i] = collectionMethod{f, s, isPointer && !byPointer, types.TypeString(recv, nil) + "." + name, c.vm.memoryType(s.typ)}
	}
	return &list
}
