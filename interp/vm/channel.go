package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// A channel is used as a channel of another element type of the same size and with pointers at the same
// offsets. Go's runtime copies elements by the type that the channel was made with.

// channelType returns the type of a channel operand.
func (c *compiler) channelType(x ast.Expr) *types.Chan {
	t, ok := c.typeOf(x).Underlying().(*types.Chan)
	if !ok || c.vm.config.Registry == nil {
		c.fail(x, "a channel of type %s", c.typeOf(x))
	}
	return t
}

// send compiles ch <- v.
func (c *compiler) send(s *ast.SendStmt) {
	t := c.channelType(s.Chan)
	ch := c.snapshot(c.expr(s.Chan, nil))
	x := c.exprTo(s.Value, c.subst(t.Elem()), nil)
	x.reg, x.offset = c.addressIfMemory(x), 0
	c.native("send "+ch.typ.String(), &native{run: c.channelOps(ch, x, operand{}).send})
}

// receive compiles <-ch. The second result reports whether the channel was open.
func (c *compiler) receive(e ast.Expr) (v, open operand, elem types.Type) {
	elem = c.subst(c.channelType(e).Elem())
	ch := c.snapshot(c.expr(e, nil))
	v, open = c.temporary(c.shape(e, elem)), c.temporary(boolShape)
	v.owned = v.file == memory
	c.native("receive "+ch.typ.String(), &native{run: c.channelOps(ch, v, open).receive})
	return v, open, elem
}

// channelOps are the operations on a channel in a register: they send the value of another
// register, or receive into that register and another one that reports whether the channel
// was open. The attempts return false where the operation would have to wait.
type channelOps struct {
	send, receive       func(t *thread, nb, sb unsafe.Pointer)
	trySend, tryReceive attempt
}

// An attempt performs an operation if it does not have to wait, and reports whether it did.
type attempt func(nb, sb unsafe.Pointer) bool

// channelOps makes the operations on ch with the value in x.
func (c *code) channelOps(ch, x, open operand) channelOps {
	r := c.vm.config.Registry
	switch x.width {
	case "64":
		return typedChannel(r, ch, x, open, func(nb, _ unsafe.Pointer, at uint16) int64 { return *intAt(nb, at) },
			func(nb, _ unsafe.Pointer, at uint16, v int64) { *intAt(nb, at) = v })
	case "32S":
		return scalarChannel[int32](r, ch, x, open)
	case "32U":
		return scalarChannel[uint32](r, ch, x, open)
	case "16S":
		return scalarChannel[int16](r, ch, x, open)
	case "16U":
		return scalarChannel[uint16](r, ch, x, open)
	case "8S":
		return scalarChannel[int8](r, ch, x, open)
	case "8U":
		return scalarChannel[uint8](r, ch, x, open)
	case "Str":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) string { return *stringAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v string) { *stringAt(sb, at) = v })
	case "Sl":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) []byte { return *(*[]byte)(unsafe.Add(sb, at)) },
			func(_, sb unsafe.Pointer, at uint16, v []byte) { *(*[]byte)(unsafe.Add(sb, at)) = v })
	case "If":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) any { return *anyAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v any) { *anyAt(sb, at) = v })
	case "C":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) complex128 { return *complex128At(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v complex128) { *complex128At(sb, at) = v })
	case "D":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) complex64 { return *complex64At(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v complex64) { *complex64At(sb, at) = v })
	}
	switch {
	case x.file == reference:
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) unsafe.Pointer { return *pointerAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v unsafe.Pointer) { *pointerAt(sb, at) = v })
	case x.typ.Size() == 0:
		return typedChannel(r, ch, x, open, func(_, _ unsafe.Pointer, _ uint16) struct{} { return struct{}{} },
			func(_, sb unsafe.Pointer, at uint16, v struct{}) { *pointerAt(sb, at) = unsafe.Pointer(&v) })
	}
	return memoryChannel(r, ch, x, open)
}

func scalarChannel[T int8 | int16 | int32 | uint8 | uint16 | uint32](r *rt.Registry, ch, x, open operand) channelOps {
	return typedChannel(r, ch, x, open, func(nb, _ unsafe.Pointer, at uint16) T { return T(*intAt(nb, at)) },
		func(nb, _ unsafe.Pointer, at uint16, v T) { *intAt(nb, at) = int64(v) })
}

// typedChannel makes operations for elements that lie in memory as a T does.
func typedChannel[T any](r *rt.Registry, ch, x, open operand, load func(nb, sb unsafe.Pointer, at uint16) T, store func(nb, sb unsafe.Pointer, at uint16, v T)) channelOps {
	channel, at, ok := ch.reg, x.reg, open.reg
	wait := rt.Receive[T]
	if rt.Outside(ch.typ) {
		wait = rt.ReceiveOutside[T]
	}
	return channelOps{
		send: func(_ *thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- T](*pointerAt(sb, channel)), load(nb, sb, at))
		},
		receive: func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := wait(r, reinterpret[<-chan T](*pointerAt(sb, channel)))
			store(nb, sb, at, v)
			*intAt(nb, ok) = boolToInt(more)
		},
		trySend: func(nb, sb unsafe.Pointer) bool {
			select {
			case reinterpret[chan<- T](*pointerAt(sb, channel)) <- load(nb, sb, at):
				return true
			default:
				return false
			}
		},
		tryReceive: func(nb, sb unsafe.Pointer) bool {
			select {
			case v, more := <-reinterpret[<-chan T](*pointerAt(sb, channel)):
				store(nb, sb, at, v)
				*intAt(nb, ok) = boolToInt(more)
				return true
			default:
				return false
			}
		},
	}
}

// memoryChannel makes operations for structs and arrays.
func memoryChannel(r *rt.Registry, ch, x, open operand) channelOps {
	channel, at, ok, s := ch.reg, x.reg, open.reg, x.shape
	sends, receives := reflect.ChanOf(reflect.SendDir, s.typ), reflect.ChanOf(reflect.RecvDir, s.typ)
	value := func(typ reflect.Type, sb unsafe.Pointer) reflect.Value {
		p := *pointerAt(sb, channel)
		return reflect.NewAt(typ, unsafe.Pointer(&p)).Elem()
	}
	return channelOps{
		send: func(_ *thread, nb, sb unsafe.Pointer) { r.SendOn(value(sends, sb), s.get(nb, sb, at)) },
		receive: func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := r.ReceiveFrom(value(receives, sb))
			s.put(nb, sb, at, v)
			*intAt(nb, ok) = boolToInt(more)
		},
		trySend: func(_, sb unsafe.Pointer) bool {
			return value(sends, sb).TrySend(reflect.NewAt(s.typ, *pointerAt(sb, at)).Elem())
		},
		tryReceive: func(nb, sb unsafe.Pointer) bool {
			v, more := value(receives, sb).TryRecv()
			if !v.IsValid() {
				return false
			}
			s.put(nb, sb, at, v)
			*intAt(nb, ok) = boolToInt(more)
			return true
		},
	}
}

// channel compiles a range over a channel.
func (r *rangeLoop) channel() {
	c := r.c
	elem := c.subst(c.channelType(r.s.X).Elem())
	ch := c.snapshot(c.expr(r.s.X, nil))
	v, open := c.temporary(c.shape(r.s, elem)), c.temporary(boolShape)
	v.owned = v.file == memory
	next := c.channelOps(ch, v, open).receive
	c.jump(r.target.next, opJmp, 0, 0, 0)
	begin := newLabel()
	c.bind(begin)
	r.body(func() { r.assign(r.s.Key, v, elem) })
	c.native("receive "+ch.typ.String(), &native{run: next})
	c.jump(begin, opLoopIf, open.reg, 0, 0)
}

// makeChannel returns an implementation of make for a channel. reflect.MakeChan needs a bidirectional type.
func makeChannel(typ reflect.Type, at, size uint16) *native {
	both := reflect.ChanOf(reflect.BothDir, typ.Elem())
	return &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		n := 0
		if size != noRegister {
			n = int(*intAt(nb, size))
		}
		if n < 0 {
			_ = make(chan struct{}, n) // panics as Go does
		}
		rt.Allocate(n, int(typ.Elem().Size()))
		*pointerAt(sb, at) = reflect.MakeChan(both, n).UnsafePointer()
	}}
}

func (c *code) closeChannel(x operand) {
	ch := x.reg
	c.native("close", &native{run: func(_ *thread, _, sb unsafe.Pointer) { close(reinterpret[chan struct{}](*pointerAt(sb, ch))) }})
}
