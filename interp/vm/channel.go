package vm

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// A channel is used as a channel of another element type of the same size and with pointers at the same
// offsets. Go's runtime copies elements by the type that the channel was made with.

// ChannelOps are the operations on a channel in a register: they send the value of another
// register, or receive into that register and another one that reports whether the channel
// was open. The attempts return false where the operation would have to wait.
type ChannelOps struct {
	Send, Receive       func(t *Thread, nb, sb unsafe.Pointer)
	trySend, tryReceive attempt
}

// An attempt performs an operation if it does not have to wait, and reports whether it did.
type attempt func(nb, sb unsafe.Pointer) bool

// NewChannelOps makes the operations on ch with the value in x.
func NewChannelOps(r *rt.Registry, ch, x, open Register) ChannelOps {
	switch x.Width {
	case "64":
		return typedChannel(r, ch, x, open, func(nb, _ unsafe.Pointer, at uint16) int64 { return *IntAt(nb, at) },
			func(nb, _ unsafe.Pointer, at uint16, v int64) { *IntAt(nb, at) = v })
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
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) string { return *StringAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v string) { *StringAt(sb, at) = v })
	case "Sl":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) []byte { return *(*[]byte)(unsafe.Add(sb, at)) },
			func(_, sb unsafe.Pointer, at uint16, v []byte) { *(*[]byte)(unsafe.Add(sb, at)) = v })
	case "If":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) any { return *AnyAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v any) { *AnyAt(sb, at) = v })
	case "C":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) complex128 { return *Complex128At(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v complex128) { *Complex128At(sb, at) = v })
	case "D":
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) complex64 { return *complex64At(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v complex64) { *complex64At(sb, at) = v })
	}
	switch {
	case x.File == Reference:
		return typedChannel(r, ch, x, open, func(_, sb unsafe.Pointer, at uint16) unsafe.Pointer { return *PointerAt(sb, at) },
			func(_, sb unsafe.Pointer, at uint16, v unsafe.Pointer) { *PointerAt(sb, at) = v })
	case x.Type.Size() == 0:
		return typedChannel(r, ch, x, open, func(_, _ unsafe.Pointer, _ uint16) struct{} { return struct{}{} },
			func(_, sb unsafe.Pointer, at uint16, v struct{}) { *PointerAt(sb, at) = unsafe.Pointer(&v) })
	}
	return memoryChannel(r, ch, x, open)
}

func scalarChannel[T int8 | int16 | int32 | uint8 | uint16 | uint32](r *rt.Registry, ch, x, open Register) ChannelOps {
	return typedChannel(r, ch, x, open, func(nb, _ unsafe.Pointer, at uint16) T { return T(*IntAt(nb, at)) },
		func(nb, _ unsafe.Pointer, at uint16, v T) { *IntAt(nb, at) = int64(v) })
}

// typedChannel makes operations for elements that lie in memory as a T does.
func typedChannel[T any](r *rt.Registry, ch, x, open Register, load func(nb, sb unsafe.Pointer, at uint16) T, store func(nb, sb unsafe.Pointer, at uint16, v T)) ChannelOps {
	channel, at, ok := ch.Reg, x.Reg, open.Reg
	wait := rt.Receive[T]
	if rt.Outside(ch.Type) {
		wait = rt.ReceiveOutside[T]
	}
	return ChannelOps{
		Send: func(_ *Thread, nb, sb unsafe.Pointer) {
			rt.Send(r, reinterpret[chan<- T](*PointerAt(sb, channel)), load(nb, sb, at))
		},
		Receive: func(_ *Thread, nb, sb unsafe.Pointer) {
			v, more := wait(r, reinterpret[<-chan T](*PointerAt(sb, channel)))
			store(nb, sb, at, v)
			*IntAt(nb, ok) = BoolToInt(more)
		},
		trySend: func(nb, sb unsafe.Pointer) bool {
			select {
			case reinterpret[chan<- T](*PointerAt(sb, channel)) <- load(nb, sb, at):
				return true
			default:
				return false
			}
		},
		tryReceive: func(nb, sb unsafe.Pointer) bool {
			select {
			case v, more := <-reinterpret[<-chan T](*PointerAt(sb, channel)):
				store(nb, sb, at, v)
				*IntAt(nb, ok) = BoolToInt(more)
				return true
			default:
				return false
			}
		},
	}
}

// memoryChannel makes operations for structs and arrays.
func memoryChannel(r *rt.Registry, ch, x, open Register) ChannelOps {
	channel, at, ok, s := ch.Reg, x.Reg, open.Reg, x.Shape
	sends, receives := reflect.ChanOf(reflect.SendDir, s.Type), reflect.ChanOf(reflect.RecvDir, s.Type)
	value := func(typ reflect.Type, sb unsafe.Pointer) reflect.Value {
		p := *PointerAt(sb, channel)
		return reflect.NewAt(typ, unsafe.Pointer(&p)).Elem()
	}
	return ChannelOps{
		Send: func(_ *Thread, nb, sb unsafe.Pointer) { r.SendOn(value(sends, sb), s.Get(nb, sb, at)) },
		Receive: func(_ *Thread, nb, sb unsafe.Pointer) {
			v, more := r.ReceiveFrom(value(receives, sb))
			s.Put(nb, sb, at, v)
			*IntAt(nb, ok) = BoolToInt(more)
		},
		trySend: func(_, sb unsafe.Pointer) bool {
			return value(sends, sb).TrySend(reflect.NewAt(s.Type, *PointerAt(sb, at)).Elem())
		},
		tryReceive: func(nb, sb unsafe.Pointer) bool {
			v, more := value(receives, sb).TryRecv()
			if !v.IsValid() {
				return false
			}
			s.Put(nb, sb, at, v)
			*IntAt(nb, ok) = BoolToInt(more)
			return true
		},
	}
}

// MakeChannel returns an implementation of make for a channel. reflect.MakeChan needs a bidirectional type.
func MakeChannel(typ reflect.Type, at, size uint16) *Native {
	both := reflect.ChanOf(reflect.BothDir, typ.Elem())
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		n := 0
		if size != NoRegister {
			n = int(*IntAt(nb, size))
		}
		if n < 0 {
			_ = make(chan struct{}, n) // panics as Go does
		}
		rt.Allocate(n, int(typ.Elem().Size()))
		*PointerAt(sb, at) = reflect.MakeChan(both, n).UnsafePointer()
	}}
}

// CloseChannel closes the channel in a register.
func CloseChannel(channel uint16) *Native {
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) { close(reinterpret[chan struct{}](*PointerAt(sb, channel))) }}
}

// ChannelLength stores the length, or capacity, of a channel in register at.
func ChannelLength(at, channel uint16, capacity bool) *Native {
	count := func(c chan struct{}) int { return len(c) }
	if capacity {
		count = func(c chan struct{}) int { return cap(c) }
	}
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		*IntAt(nb, at) = int64(count(reinterpret[chan struct{}](*PointerAt(sb, channel))))
	}}
}

// SelectCase is a case of a select statement with evaluated operands.
type SelectCase struct {
	Direction reflect.SelectDir
	Channel   Register
	Value     Register // the value to send, or the destination of the received one
	Type      reflect.Type
}

// A select statement first attempts its cases in random order. One that succeeds is one
// that compiled Go may choose as well, with the same probability. If none does, package
// reflect decides, which looks at all channels at the same time: one channel may have become
// ready after its attempt and another before.

// mostAttempted is the number of cases up to which a select statement attempts them.
const mostAttempted = 8

// Select waits for one of the cases and stores its index in the register chosen. open is the register that says whether the channel
// of a receive was open.
func Select(registry *rt.Registry, cases []SelectCase, chosen, open uint16) *Native {
	var attempts []attempt
	var attempted []int // the numbers of their cases
	other := -1         // the number of the default case
	for i, x := range cases {
		switch x.Direction {
		case reflect.SelectDefault:
			other = i
			continue
		case reflect.SelectSend:
			attempts = append(attempts, NewChannelOps(registry, x.Channel, x.Value, Register{}).trySend)
		default:
			attempts = append(attempts, NewChannelOps(registry, x.Channel, x.Value, Register{Reg: open}).tryReceive)
		}
		attempted = append(attempted, i)
	}
	choose := registry.Choose
	if slices.ContainsFunc(cases, func(x SelectCase) bool { return x.Direction == reflect.SelectRecv && rt.Outside(x.Channel.Type) }) {
		choose = registry.ChooseOutside
	}
	single := len(attempts) == 1 && other >= 0
	if len(attempts) > mostAttempted {
		attempts = nil
	}
	return &Native{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
		if at := attemptOne(attempts, nb, sb); at >= 0 {
			*IntAt(nb, chosen) = int64(attempted[at])
			return
		}
		if single {
			*IntAt(nb, chosen) = int64(other)
			return
		}
		list := make([]reflect.SelectCase, len(cases), len(cases)+1)
		for i, x := range cases {
			list[i].Dir = x.Direction
			if x.Direction == reflect.SelectDefault {
				continue
			}
			p := *PointerAt(sb, x.Channel.Reg)
			if p == nil {
				continue // reflect.Select needs a zero Value for a nil channel
			}
			list[i].Chan = reflect.NewAt(x.Type, unsafe.Pointer(&p)).Elem()
			if x.Direction == reflect.SelectSend {
				list[i].Send = x.Value.Get(nb, sb, x.Value.Reg)
			}
		}
		at, value, ok := choose(list)
		if cases[at].Direction == reflect.SelectRecv {
			cases[at].Value.Put(nb, sb, cases[at].Value.Reg, value)
		}
		*IntAt(nb, chosen), *IntAt(nb, open) = int64(at), BoolToInt(ok)
	}}
}

// attemptOne makes the attempts in random order until one succeeds. It returns the number of
// that one, and -1 if none does.
func attemptOne(attempts []attempt, nb, sb unsafe.Pointer) int {
	switch len(attempts) {
	case 0:
		return -1
	case 1:
		if attempts[0](nb, sb) {
			return 0
		}
		return -1
	case 2:
		first := int(rand.Uint32() & 1)
		switch {
		case attempts[first](nb, sb):
			return first
		case attempts[1-first](nb, sb):
			return 1 - first
		}
		return -1
	}
	var order [mostAttempted]uint8
	for i := range attempts {
		order[i] = uint8(i)
	}
	for left := len(attempts); left > 0; left-- {
		k := rand.IntN(left)
		if i := order[k]; attempts[i](nb, sb) {
			return int(i)
		}
		order[k] = order[left-1]
	}
	return -1
}
