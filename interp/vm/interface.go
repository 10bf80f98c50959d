package vm

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/rt"
)

// PanicNil panics as Go does where a nil pointer is dereferenced.
func PanicNil() { panic(rt.NilDereference()) }

// find returns the function for the method of x and the data word of its receiver; nil if the VM does not
// run the method. key is the first word of the interface value: its method table, or its type.
func (s *CallSite) find(vm *VM, key unsafe.Pointer, x any) (*Function, unsafe.Pointer) {
	if x == nil {
		PanicNil()
	}
	epoch, words := vm.epoch.Load(), InterfaceWords(&x)
	for i := range s.others {
		e := s.others[i].Load()
		if e == nil {
			break
		}
		if e.key == key && e.epoch == epoch {
			return s.enter(vm, e, words[1])
		}
	}
	e := &cacheEntry{key, epoch, nil, vm.config.Registry.Method(x, s.Name)}
	if e.Method != nil && e.Code != nil {
		if e.function = e.Code.(*method).entry; !s.takes(e.function) {
			panic(rt.MissingMethod(x, s.Name))
		}
		if e.Receiver == nil {
			s.cached.Store(e)
		}
	}
	s.others[(s.next.Add(1)-1)%otherEntries].Store(e)
	return s.enter(vm, e, words[1])
}

// takes reports whether f takes its arguments and returns its results in the registers of the call. A later cell can have declared the method with
// another signature.
func (s *CallSite) takes(f *Function) bool {
	same := func(a, b Shape) bool { return a.File == b.File && a.Width == b.Width }
	return len(f.Parameters) == len(s.Parameters) && slices.EqualFunc(f.Parameters[1:], s.Parameters[1:], same) && slices.EqualFunc(f.Results, s.Results, same)
}

// enter returns the function of e and the data word of its receiver for the data word of an interface value.
func (s *CallSite) enter(vm *VM, e *cacheEntry, data unsafe.Pointer) (*Function, unsafe.Pointer) {
	switch {
	case e.Method == nil:
		return nil, nil
	case e.Code == nil:
		x := e.Value(data)
		return s.find(vm, InterfaceWords(&x)[0], x)
	case e.Receiver != nil:
		data = e.Receiver(data)
	}
	return e.function, data
}

// call calls a method that the VM does not run. The arguments are in the registers of the frame at nb and
// sb.
func (s *CallSite) call(vm *VM, nb, sb unsafe.Pointer, x any) {
	for m := vm.config.Registry.Method(x, s.Name); m != nil; m = vm.config.Registry.Method(x, s.Name) {
		x = m.Value(InterfaceWords(&x)[1])
	}
	var arguments []reflect.Value
	for i, at := range FrameRegisters(s.Parameters)[1:] {
		arguments = append(arguments, s.Parameters[i+1].Get(nb, sb, at))
	}
	results := Call(vm.config.Registry.Bound(x, s.Name), arguments)
	for i, at := range FrameRegisters(s.Results) {
		s.Results[i].Put(nb, sb, at, results[i])
	}
}

// Pack returns a function that makes an interface value of the value in a register. A value in memory is
// copied unless it is owned.
func (vm *VM) Pack(s Shape, owned bool) func(nb, sb unsafe.Pointer, at uint16) any {
	zero := reflect.Zero(s.Type).Interface()
	if s.Width == "If" || named.IsDirect(s.Type) && s.File == Memory || zero == nil {
		return func(nb, sb unsafe.Pointer, at uint16) any { return s.Get(nb, sb, at).Interface() }
	}
	word := InterfaceWords(&zero)[0]
	made := func(p unsafe.Pointer) (x any) {
		*InterfaceWords(&x) = [2]unsafe.Pointer{word, p}
		return x
	}
	y := vm.MemoryType(s.Type)
	switch {
	case s.File == Memory && owned:
		return func(_, sb unsafe.Pointer, at uint16) any { return made(*PointerAt(sb, at)) }
	case s.File == Memory:
		return func(_, sb unsafe.Pointer, at uint16) any { return made(y.clone(*PointerAt(sb, at))) }
	case named.IsDirect(s.Type):
		return func(_, sb unsafe.Pointer, at uint16) any { return made(*PointerAt(sb, at)) }
	}
	return func(nb, sb unsafe.Pointer, at uint16) any {
		p := y.alloc()
		s.spill(nb, sb, at, p)
		return made(p)
	}
}
