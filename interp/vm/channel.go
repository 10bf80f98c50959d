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
	c.native("send "+ch.typ.String(), &native{run: sender(c.vm.config.Registry, ch, x)})
}

// sender returns the operation that sends x on ch.
func sender(r *rt.Registry, ch, x operand) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	to, at := ch.reg, x.reg
	switch x.width {
	case "64":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- int64](*pointerAt(sb, to)), *intAt(nb, at))
		}
	case "32S", "32U":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- uint32](*pointerAt(sb, to)), uint32(*intAt(nb, at)))
		}
	case "16S", "16U":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- uint16](*pointerAt(sb, to)), uint16(*intAt(nb, at)))
		}
	case "8S", "8U":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- uint8](*pointerAt(sb, to)), uint8(*intAt(nb, at)))
		}
	case "Str":
		return func(_ *thread, _, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- string](*pointerAt(sb, to)), *stringAt(sb, at))
		}
	case "Sl":
		return func(_ *thread, _, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- []byte](*pointerAt(sb, to)), *(*[]byte)(unsafe.Add(sb, at)))
		}
	case "If":
		return func(_ *thread, _, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- any](*pointerAt(sb, to)), *anyAt(sb, at))
		}
	}
	if x.file == reference && !isComplex(x.shape) {
		return func(_ *thread, _, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- unsafe.Pointer](*pointerAt(sb, to)), *pointerAt(sb, at))
		}
	}
	if x.typ.Size() == 0 {
		return func(_ *thread, _, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- struct{}](*pointerAt(sb, to)), struct{}{})
		}
	}
	typ, s := reflect.ChanOf(reflect.SendDir, x.typ), x.shape
	return func(_ *thread, nb, sb unsafe.Pointer) {
		p := *pointerAt(sb, to)
		r.SendOn(reflect.NewAt(typ, unsafe.Pointer(&p)).Elem(), s.get(nb, sb, at))
	}
}

// receive compiles <-ch. The second result reports whether the channel was open.
func (c *compiler) receive(e ast.Expr) (v, open operand, elem types.Type) {
	elem = c.subst(c.channelType(e).Elem())
	ch := c.snapshot(c.expr(e, nil))
	v, open = c.temporary(c.shape(e, elem)), c.temporary(boolShape)
	v.owned = v.file == memory
	c.native("receive "+ch.typ.String(), &native{run: receiver(c.vm.config.Registry, ch, v, open)})
	return v, open, elem
}

// receiver returns the operation that receives x from ch.
func receiver(r *rt.Registry, ch, x, open operand) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	from, at, ok := ch.reg, x.reg, open.reg
	switch x.width {
	case "64":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := rt.Receive(r, reinterpret[<-chan int64](*pointerAt(sb, from)))
			*intAt(nb, at), *intAt(nb, ok) = v, boolToInt(more)
		}
	case "Str":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := rt.Receive(r, reinterpret[<-chan string](*pointerAt(sb, from)))
			*stringAt(sb, at), *intAt(nb, ok) = v, boolToInt(more)
		}
	case "Sl":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := rt.Receive(r, reinterpret[<-chan []byte](*pointerAt(sb, from)))
			*(*[]byte)(unsafe.Add(sb, at)), *intAt(nb, ok) = v, boolToInt(more)
		}
	case "If":
		return func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := rt.Receive(r, reinterpret[<-chan any](*pointerAt(sb, from)))
			*anyAt(sb, at), *intAt(nb, ok) = v, boolToInt(more)
		}
	}
	if x.file == reference && !isComplex(x.shape) {
		return func(_ *thread, nb, sb unsafe.Pointer) {
			v, more := rt.Receive(r, reinterpret[<-chan unsafe.Pointer](*pointerAt(sb, from)))
			*pointerAt(sb, at), *intAt(nb, ok) = v, boolToInt(more)
		}
	}
	typ, s := reflect.ChanOf(reflect.RecvDir, x.typ), x.shape
	return func(_ *thread, nb, sb unsafe.Pointer) {
		p := *pointerAt(sb, from)
		v, more := r.ReceiveFrom(reflect.NewAt(typ, unsafe.Pointer(&p)).Elem())
		s.put(nb, sb, at, v)
		*intAt(nb, ok) = boolToInt(more)
	}
}

// channel compiles a range over a channel.
func (r *rangeLoop) channel() {
	c := r.c
	elem := c.subst(c.channelType(r.s.X).Elem())
	ch := c.snapshot(c.expr(r.s.X, nil))
	v, open := c.temporary(c.shape(r.s, elem)), c.temporary(boolShape)
	v.owned = v.file == memory
	next := receiver(c.vm.config.Registry, ch, v, open)
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

func (c *compiler) closeChannel(x operand) {
	ch := x.reg
	c.native("close", &native{run: func(_ *thread, _, sb unsafe.Pointer) { close(reinterpret[chan struct{}](*pointerAt(sb, ch))) }})
}

// goStatement compiles a go statement.
func (c *compiler) goStatement(s *ast.GoStmt) {
	e := s.Call
	if tv := c.source.Info.Types[e.Fun]; tv.IsType() || tv.IsBuiltin() || c.vm.config.Go == nil {
		c.fail(s, "a go statement that calls a builtin or converts")
	}
	sig, ok := c.typeOf(e.Fun).Underlying().(*types.Signature)
	if !ok || c.argumentCountDiffers(e, sig) && !sig.Variadic() {
		c.fail(s, "a go statement with several values as arguments")
	}
	m := c.mark()
	f := c.snapshot(c.expr(e.Fun, nil))
	b := c.beginFrame()
	c.arguments(b, e, sig)
	parameters, start, cell := b.parameters, c.vm.config.Go, c.source.Cell
	c.native("go", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		p := *pointerAt(sb, f.reg)
		function := reflect.NewAt(f.typ, unsafe.Pointer(&p)).Elem()
		arguments := make([]reflect.Value, len(parameters))
		for i, x := range parameters {
			arguments[i] = x.get(nb, sb, x.reg)
		}
		call := function.Call
		if f.typ.IsVariadic() {
			call = function.CallSlice
		}
		start(cell, func() { call(arguments) })
	}})
	c.release(m)
}
