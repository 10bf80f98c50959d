package vm

import (
	"container/heap"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// The functions of packages sort and container/heap call functions of cells so often that calls through
// package reflect would dominate their time. Here the callbacks run on a thread that is borrowed for the
// whole call.

// SortSlice sorts the slice in register at, of type typ, by the function value in register from.
func (vm *VM) SortSlice(sort func(list any, less func(i, j int) bool), typ reflect.Type, at, from uint16) *Native {
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
		less, done := vm.less(*PointerAt(sb, from))
		sort(reflect.NewAt(typ, unsafe.Add(sb, at)).Elem().Interface(), less)
		done()
	}}
}

// callback calls a closure of the VM again and again, on a borrowed thread.
type callback struct {
	*Thread
	closure *closure
	first   *Instruction
	leaf    bool // it calls no other function of the VM, and so defers nothing
}

// borrow returns a callback for the closure f, whose code begins at first.
func (vm *VM) borrow(f *closure, first *Instruction) *callback {
	t := vm.threads.Get().(*Thread)
	t.prepare(f.function)
	return &callback{t, f, first, !slices.ContainsFunc(f.function.Code, isCall)}
}

// isCall reports whether an instruction calls a function of the VM.
func isCall(in Instruction) bool {
	switch in.Op {
	case OpCall, OpFirstCall, OpCallValue, OpCallMethod, OpRunDeferred:
		return true
	}
	return false
}

// begin prepares a call: the arguments are to be stored in the frame at nb and sb of the thread.
func (b *callback) begin() {
	if b.vm.stop.Load() {
		b.vm.config.Stop()
	}
	if b.nb != unsafe.Pointer(unsafe.SliceData(b.scalars)) || b.sb != unsafe.Pointer(unsafe.SliceData(b.slots)) {
		b.reset() // the last call has reallocated the files, which only grow
	}
	b.fn, b.ip = b.closure.function, nil
}

// call makes the call and returns the result, a number.
func (b *callback) call() int64 {
	b.closure.function.capture(b.sb, b.closure.captured)
	if b.leaf {
		b.run(b.fn, b.first)
	} else {
		b.executeAt(b.first)
	}
	return *(*int64)(unsafe.Pointer(unsafe.SliceData(b.scalars)))
}

// less returns the function value at p. If the VM runs it, it is called on a borrowed thread, which done
// releases.
func (vm *VM) less(p unsafe.Pointer) (less func(i, j int) bool, done func()) {
	if p == nil || closureOf(p) == nil {
		return *(*func(i, j int) bool)(unsafe.Pointer(&p)), func() {}
	}
	f := closureOf(p)
	b := vm.borrow(f, f.function.entry())
	return func(i, j int) bool {
		b.begin()
		*IntAt(b.nb, 0), *IntAt(b.nb, 8) = int64(i), int64(j)
		return b.call() != 0
	}, b.release
}

// SortFunc sorts the slice in register at, whose elements have shape s, in the order of the function value in register from, a
// func(a, b E) int. It sets register done to whether the VM runs that function; else it does nothing.
func (vm *VM) SortFunc(sort func(list any, less func(i, j int) bool), typ reflect.Type, s Shape, at, from, done uint16) *Native {
	in := FrameRegisters([]Shape{s, s})
	size := typ.Elem().Size()
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		p := *PointerAt(sb, from)
		list := *SliceAt(sb, at)
		runs := p != nil && closureOf(p) != nil
		*IntAt(nb, done) = BoolToInt(runs)
		if !runs {
			return
		}
		f := closureOf(p)
		b := vm.borrow(f, f.function.entry())
		compare := func(i, j int) bool {
			b.begin()
			s.Fill(b.nb, b.sb, in[0], unsafe.Add(list.Data, uintptr(i)*size))
			s.Fill(b.nb, b.sb, in[1], unsafe.Add(list.Data, uintptr(j)*size))
			return b.call() < 0
		}
		if s.File == Memory { // elements are lent, not copied
			b.first = &f.function.Code[0]
			compare = func(i, j int) bool {
				b.begin()
				*PointerAt(b.sb, in[0]) = unsafe.Add(list.Data, uintptr(i)*size)
				*PointerAt(b.sb, in[1]) = unsafe.Add(list.Data, uintptr(j)*size)
				return b.call() < 0
			}
		}
		sort(reflect.NewAt(typ, unsafe.Pointer(&list)).Elem().Interface(), compare)
		b.release()
	}}
}

// collection implements heap.Interface by the methods of a value of a cell. They run on a borrowed thread.
type collection struct {
	*Thread
	methods  *CollectionMethods
	receiver unsafe.Pointer // the pointer that a pointer to the value would hold
}

// CollectionMethods are the methods of a collection, those of heap.Interface or of sort.Interface.
type CollectionMethods [methodCount]CollectionMethod

// CollectionMethod is a method of a collection.
type CollectionMethod struct {
	Function *Function
	Shape    Shape  // of the receiver
	Deref    bool   // the collection is a pointer, the receiver is not
	Name     string // such as "main.T.M"
	Type     *MemoryType
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

// SortMethods is the number of the methods of sort.Interface, which come first in CollectionMethods.
const SortMethods = methodSwap + 1

// MethodNames are the names of the methods in CollectionMethods.
var MethodNames = [methodCount]string{"Len", "Less", "Swap", "Push", "Pop"}

func (c collection) Len() int {
	c.call(methodLen, 0, 0, nil)
	return int(*IntAt(unsafe.Pointer(&c.scalars[0]), 0))
}

func (c collection) Less(i, j int) bool {
	c.call(methodLess, i, j, nil)
	return *IntAt(unsafe.Pointer(&c.scalars[0]), 0) != 0
}

func (c collection) Swap(i, j int) { c.call(methodSwap, i, j, nil) }

func (c collection) Push(x any) { c.call(methodPush, 0, 0, x) }

func (c collection) Pop() any {
	c.call(methodPop, 0, 0, nil)
	return *AnyAt(unsafe.Pointer(&c.slots[0]), uint16(SlotOffset))
}

// call calls a method with those of the arguments i, j and x that it has.
func (c collection) call(method, i, j int, x any) {
	m := &c.methods[method]
	fn := m.Function.current()
	c.prepare(fn)
	*IntAt(c.nb, 0), *IntAt(c.nb, 8) = int64(i), int64(j)
	from := c.receiver
	if m.Deref {
		if from = *(*unsafe.Pointer)(from); from == nil {
			panic(rt.NilReceiver(m.Name))
		}
	}
	switch {
	case m.Shape.File != Memory:
		m.Shape.Fill(c.nb, c.sb, uint16(SlotOffset), from)
	case fn.InterfaceEntry == fn && (fn.LentReceiver || !m.Deref):
		*PointerAt(c.sb, uint16(SlotOffset)) = from // the method only reads it, and nothing changes it meanwhile
	default:
		*PointerAt(c.sb, uint16(SlotOffset)) = m.Type.clone(from)
	}
	if method == methodPush {
		*AnyAt(c.sb, uint16(SlotOffset+SlotSize)) = x
	}
	c.execute(fn)
}

// reverse implements sort.Reverse for a collection.
type reverse struct{ collection }

func (r reverse) Less(i, j int) bool { return r.collection.Less(j, i) }

// CollectionCall is the call of a function with a collection, a value of a cell.
type CollectionCall struct {
	Function       func(c heap.Interface, i int, x any) any
	Methods        *CollectionMethods
	List           Register
	Reversed       bool   // sort.Reverse reverses it
	Index, Element uint16 // registers of the second argument: an index or an element; NoRegister if it has no such argument
	Results        []Register
}

// CallCollection makes a call with a collection; the methods of that run on a borrowed thread.
func (vm *VM) CallCollection(c CollectionCall) *Native {
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		borrowed := vm.threads.Get().(*Thread)
		x := collection{Thread: borrowed, methods: c.Methods}
		if c.List.File == Memory {
			x.receiver = *PointerAt(sb, c.List.Reg)
		} else {
			copied := new(SliceHeader) // the largest value in a register
			c.List.spill(nb, sb, c.List.Reg, unsafe.Pointer(copied))
			x.receiver = unsafe.Pointer(copied)
		}
		var i int
		var v any
		if c.Index != NoRegister {
			i = int(*IntAt(nb, c.Index))
		}
		if c.Element != NoRegister {
			v = *AnyAt(sb, c.Element)
		}
		var given heap.Interface = x
		if c.Reversed {
			given = reverse{x}
		}
		result := c.Function(given, i, v)
		borrowed.release()
		if len(c.Results) == 0 {
			return
		}
		if b, ok := result.(bool); ok && c.Results[0].File == Scalar {
			*IntAt(nb, c.Results[0].Reg) = BoolToInt(b)
			return
		}
		*AnyAt(sb, c.Results[0].Reg) = result
	}}
}
