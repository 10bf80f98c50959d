package ptxsim

import "math/bits"

var moveOperations = map[string]func(*operation) step{
	"mov": compileMov, "cvta": compileCvta, "isspacep": compileIsSpace,
}

func compileMov(o *operation) step {
	t := o.typ("pred", "b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "bf16", "f32", "f64")
	o.end(2)
	from := &o.args[1]
	switch {
	case t.class == predicate:
		d := o.predicateDestination(&o.args[0])
		a, not := o.predicate(1)
		return func(w *warp, mask uint32) { w.set(d, mask, flip(w.p[a], not)) }
	case o.args[0].kind == operandVector:
		return o.unpack(t)
	case from.kind == operandVector:
		return o.pack(t)
	}
	d := o.destination(t)
	if clock, ok := clocks[from.name]; ok && from.kind == operandName {
		if clock.bits != t.bits {
			panic(o.failure("%s has %d bits", from.name, clock.bits))
		}
		return func(w *warp, mask uint32) { w.broadcast(d, mask, clock.read(w)) }
	}
	var a int
	if s := o.b.lookup(from.name); from.kind == operandName && s != nil && s.space != "reg" {
		if t.bits < 32 {
			panic(o.failure("an address does not fit into a %d-bit register", t.bits))
		}
		a = o.addressOf(s, from)
	} else {
		a = o.source(1, t)
	}
	return whole(func(w *warp) { w.r[d] = w.r[a] }, mapOne(d, a, func(a uint64) uint64 { return a }))
}

// pack compiles mov.b32 d, {a, b}.
func (o *operation) pack(t valueType) step {
	n := len(o.args[1].items)
	if n != 2 && n != 4 || t.bits/n < 8 {
		panic(o.failure("%d elements do not fill a .%s", n, t.name))
	}
	part := valueType{"b" + t.name[1:], untyped, t.bits / n}
	d, items := o.destination(t), o.sources(1, n, part)
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			var v uint64
			for j, slot := range items {
				v |= w.r[slot][i] << (j * part.bits)
			}
			w.r[d][i] = v
		}
	}
}

// unpack compiles mov.b32 {d, e}, a.
func (o *operation) unpack(t valueType) step {
	n := len(o.args[0].items)
	if n != 2 && n != 4 || t.bits/n < 8 {
		panic(o.failure("%d elements do not fill a .%s", n, t.name))
	}
	part := valueType{"b" + t.name[1:], untyped, t.bits / n}
	a, items := o.source(1, t), o.destinations(n, part)
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			v := w.r[a][i]
			for j, slot := range items {
				w.r[slot][i] = v >> (j * part.bits) & part.mask()
			}
		}
	}
}

var windows = map[string]uint64{"global": 0, "const": 0, "shared": sharedWindow, "shared::cta": sharedWindow, "local": localWindow, "param": paramWindow}

// space reads a state space that has a window of generic addresses.
func (o *operation) space() string {
	return o.need("global", "const", "shared", "shared::cta", "local", "param")
}

// compileCvta compiles the change between addresses of a space and generic
// ones.
func compileCvta(o *operation) step {
	to := o.has("to")
	space := o.space()
	t := o.typ("u64", "b64", "u32")
	o.end(2)
	if t.bits != 64 {
		panic(o.failure("addresses have 64 bits"))
	}
	window := windows[space]
	d := o.destination(t)
	from := &o.args[1]
	a := 0
	if s := o.b.lookup(from.name); from.kind == operandName && s != nil && s.space != "reg" {
		a = o.addressOf(s, from)
		if s.space == "entry" != (space == "param") {
			panic(o.failure("%s is not in space %s", from.name, space))
		}
	} else {
		a = o.source(1, t)
	}
	return func(w *warp, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			v := w.r[a][i]
			if to {
				if v-window >= windowBytes && window != 0 || window == 0 && v >= sharedWindow {
					panic(w.accessFault(OutOfBounds, i, space, v, 0, "the address is of another space"))
				}
				v -= window
			} else {
				v += window
			}
			w.r[d][i] = v
		}
	}
}

func compileIsSpace(o *operation) step {
	space := o.space()
	o.end(2)
	d, a := o.predicateDestination(&o.args[0]), o.source(1, valueTypes["u64"])
	window := windows[space]
	return setPredicate(d, func(w *warp, i int) bool {
		v := w.r[a][i]
		if window == 0 {
			if r := w.block.memory.find(v); v < sharedWindow && r != nil && v-r.base < uint64(len(r.data)) {
				return r.fixed == (space == "const")
			}
			return false
		}
		return v-window < windowBytes
	})
}
