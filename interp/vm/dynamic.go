package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/shared"
)

// callSite is a call of a method through an interface type of a cell. It remembers the methods that it called, because most call sites see one
// type, and nearly all of the others a few.
type callSite struct {
	name                string
	parameters, results []shape                    // the first parameter is the receiver's data word
	cached              shared.Pointer[cacheEntry] // the last new one whose receiver is the data word of the interface value
	others              [otherEntries]shared.Pointer[cacheEntry]
	next                atomic.Uint32 // of others, replaced when all are in use
}

const otherEntries = 8

// cacheEntry is the method of one dynamic type. function takes the data word of the interface value.
type cacheEntry struct {
	typeWord unsafe.Pointer // of the interface value
	epoch    uint64
	function *Function
	*rt.Method
}

// find returns the function for the method of x and the data word of its receiver; nil if the VM does not
// run the method.
func (s *callSite) find(vm *VM, x any) (*Function, unsafe.Pointer) {
	if x == nil {
		panicNil()
	}
	epoch, words := vm.epoch.Load(), interfaceWords(&x)
	for i := range s.others {
		e := s.others[i].Load()
		if e == nil {
			break
		}
		if e.typeWord == words[0] && e.epoch == epoch {
			return s.enter(vm, e, words[1])
		}
	}
	e := &cacheEntry{words[0], epoch, nil, vm.config.Registry.Method(x, s.name)}
	if e.Method != nil && e.Code != nil {
		if e.function = e.Code.(*method).entry; e.Receiver == nil {
			s.cached.Store(e)
		}
	}
	s.others[(s.next.Add(1)-1)%otherEntries].Store(e)
	return s.enter(vm, e, words[1])
}

// enter returns the function of e and the data word of its receiver for the data word of an interface value.
func (s *callSite) enter(vm *VM, e *cacheEntry, data unsafe.Pointer) (*Function, unsafe.Pointer) {
	switch {
	case e.Method == nil:
		return nil, nil
	case e.Code == nil:
		return s.find(vm, e.Value(data))
	case e.Receiver != nil:
		data = e.Receiver(data)
	}
	return e.function, data
}

// call calls a method that the VM does not run. The arguments are in the registers of the frame at nb and
// sb.
func (s *callSite) call(vm *VM, nb, sb unsafe.Pointer, x any) {
	for m := vm.config.Registry.Method(x, s.name); m != nil; m = vm.config.Registry.Method(x, s.name) {
		x = m.Value(interfaceWords(&x)[1])
	}
	var arguments []reflect.Value
	for i, at := range frameRegisters(s.parameters)[1:] {
		arguments = append(arguments, s.parameters[i+1].get(nb, sb, at))
	}
	results := call(vm.config.Registry.Bound(x, s.name), arguments)
	for i, at := range frameRegisters(s.results) {
		s.results[i].put(nb, sb, at, results[i])
	}
}

// callDynamic compiles a call of method m of v, a value of an interface type of a cell.
func (c *compiler) callDynamic(e *ast.CallExpr, v operand, m *types.Func, sig *types.Signature) []operand {
	if c.isDeferred(e) {
		v = c.snapshot(v)
	}
	b := c.beginCall(e)
	b.parameters = append(b.parameters, c.temporary(pointerShape))
	c.arguments(b, e, sig)
	if c.isDeferred(e) {
		c.checkInterface(v)
	}
	return c.callDynamicWith(b, e, v, m, sig)
}

// checkInterface emits a panic if v is nil: deferring a method of a nil interface panics at the defer
// statement.
func (c *code) checkInterface(v operand) {
	at := v.reg
	c.native("check the interface", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		if *anyAt(sb, at) == nil {
			panicNil()
		}
	}})
}

// callDynamicWith compiles a call of a method of v with the arguments in b. The first argument is reserved
// for the receiver.
func (c *compiler) callDynamicWith(b *callFrame, e ast.Node, v operand, m *types.Func, sig *types.Signature) []operand {
	rest := *b
	rest.parameters = b.parameters[1:]
	if c.deferCall(e, &rest, []operand{v}, func(a *compiler, b *callFrame, more []operand) {
		c := a
		moved := c.beginFrame()
		moved.parameters = append(moved.parameters, c.temporary(pointerShape))
		for _, p := range b.parameters {
			to := c.temporary(p.shape)
			c.move(to, p)
			moved.parameters = append(moved.parameters, to)
		}
		c.callDynamicWith(moved, e, more[0], m, sig)
	}) {
		return nil
	}
	s := &callSite{name: origin.MethodKey(m)}
	for _, p := range b.parameters {
		s.parameters = append(s.parameters, p.shape)
	}
	for v := range sig.Results().Variables() {
		s.results = append(s.results, c.shape(e, c.subst(v.Type())))
	}
	c.reserveResults(b, s.results)
	c.fn.callSites = append(c.fn.callSites, s)
	c.emit(opCallMethod, b.scalarOffset, b.slotOffset, v.reg, int32(len(c.fn.callSites)-1), b.lending())
	return c.resultsOf(b, sig, e)
}

// interfaceEntry returns the function that calls of a method through interfaces run: the method itself, or
// a wrapper that prepares the receiver. Its first parameter is the data word of the receiver.
func (c *compiler) interfaceEntry(d Declaration) *Function {
	s := c.fn.parameters[0]
	switch {
	case s.file == reference && named.IsDirect(s.typ), s.file == memory && !named.IsDirect(s.typ) && c.onlyRead(d.Body, d.Signature.Recv()):
		return c.fn
	}
	fn := c.unit.newFunction("")
	fn.wrapper = true
	a := &compiler{code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, variables: map[types.Object]*variable{}}
	a.setPosition(d.Body)
	fn.parameters = append([]shape{pointerShape}, c.fn.parameters[1:]...)
	fn.results = c.fn.results
	a.reserveResults(&callFrame{}, fn.results)
	from := frameRegisters(fn.parameters)
	for _, p := range fn.parameters {
		a.register(p)
	}
	m := a.mark()
	for _, r := range fn.results {
		a.register(r) // so that the call does not overwrite them
	}
	a.release(mark{max(m.scalars, a.scalarsInUse), max(m.slots, a.slotsInUse)})
	a.ownParameters(from, all)
	b := a.beginFrame()
	receiver := a.temporary(s)
	switch {
	case s.file == memory && named.IsDirect(s.typ): // the word is the pointer of which the value consists
		a.emit(opNew, receiver.reg, 0, 0, a.memoryType(s.typ), 0)
		a.store(receiver.reg, 0, operand{shape: pointerShape, reg: from[0]})
	case s.file == memory:
		a.emit(opCloneM, receiver.reg, from[0], 0, a.memoryType(s.typ), 0)
	default:
		a.load(s, from[0], 0, &receiver)
	}
	for i, p := range fn.parameters[1:] {
		a.move(a.temporary(p), operand{shape: p, reg: from[i+1]})
	}
	for i, r := range a.callDirect(b, c.fn, d.Signature, d.Body) {
		a.move(operand{shape: r.shape, reg: frameRegisters(fn.results)[i]}, r)
	}
	a.do(opRet, 0, 0, 0)
	return fn
}

// reserveResults makes the frame large enough for results at b.
func (c *code) reserveResults(b *callFrame, results []shape) {
	m := c.mark()
	c.release(mark{int(b.scalarOffset) / 8, int(b.slotOffset) / int(slotSize)})
	for _, s := range results {
		c.register(s)
	}
	c.release(m)
}

// onlyRead reports whether a function only reads fields of its parameter v that are not in memory
// themselves. Then the caller need not copy the value.
func (c *compiler) onlyRead(body *ast.BlockStmt, v *types.Var) bool {
	if c.facts.Escapes(v) || c.facts.Assigned(v) {
		return false
	}
	uses, reads := 0, 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if c.source.Info.Uses[n] == v {
				uses++
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			sel := c.source.Info.Selections[n]
			if ok && c.source.Info.Uses[id] == v && sel != nil && sel.Kind() == types.FieldVal && c.shapeOf(n).file != memory {
				reads++
			}
		}
		return true
	})
	return uses == reads
}

// The representation of interface values; see also named.IsDirect.

// interfaceWords returns the type word and the data word of an interface value.
func interfaceWords(x *any) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

// pack returns a function that makes an interface value of the value in a register. A value in memory is
// copied unless it is owned.
func (vm *VM) pack(s shape, owned bool) func(nb, sb unsafe.Pointer, at uint16) any {
	zero := reflect.Zero(s.typ).Interface()
	if s.width == "If" || named.IsDirect(s.typ) && s.file == memory || zero == nil {
		return func(nb, sb unsafe.Pointer, at uint16) any { return s.get(nb, sb, at).Interface() }
	}
	word := interfaceWords(&zero)[0]
	made := func(p unsafe.Pointer) (x any) {
		*interfaceWords(&x) = [2]unsafe.Pointer{word, p}
		return x
	}
	y := vm.memoryType(s.typ)
	switch {
	case s.file == memory && owned:
		return func(_, sb unsafe.Pointer, at uint16) any { return made(*pointerAt(sb, at)) }
	case s.file == memory:
		return func(_, sb unsafe.Pointer, at uint16) any { return made(y.clone(*pointerAt(sb, at))) }
	case named.IsDirect(s.typ):
		return func(_, sb unsafe.Pointer, at uint16) any { return made(*pointerAt(sb, at)) }
	}
	return func(nb, sb unsafe.Pointer, at uint16) any {
		p := y.alloc()
		s.spill(nb, sb, at, p)
		return made(p)
	}
}

// unpack loads the value of an interface, which has type s.typ, into a register. A value in memory is not
// copied and must not be changed.
func (s shape) unpack(nb, sb unsafe.Pointer, at uint16, x any) {
	switch {
	case reflect.TypeOf(x) != s.typ:
		s.put(nb, sb, at, reflect.Zero(s.typ)) // an empty struct
	case !named.IsDirect(s.typ):
		s.fill(nb, sb, at, interfaceWords(&x)[1])
	case s.file == memory:
		s.put(nb, sb, at, reflect.ValueOf(x))
	default:
		*pointerAt(sb, at) = interfaceWords(&x)[1]
	}
}
