package ptxsim

import (
	"math/bits"
)

// multiplyInteger returns the function for the low or high half of a product.
func multiplyInteger(t valueType, high bool) func(a, b uint64) uint64 {
	switch {
	case !high:
		return func(a, b uint64) uint64 { return a * b & t.mask() }
	case t.bits == 64 && t.class == unsigned:
		return func(a, b uint64) uint64 { h, _ := bits.Mul64(a, b); return h }
	case t.bits == 64:
		return func(a, b uint64) uint64 {
			h, _ := bits.Mul64(a, b)
			if int64(a) < 0 {
				h -= b
			}
			if int64(b) < 0 {
				h -= a
			}
			return h
		}
	case t.class == signed:
		return func(a, b uint64) uint64 {
			return uint64(extend(a, t.bits)*extend(b, t.bits)>>t.bits) & t.mask()
		}
	}
	return func(a, b uint64) uint64 { return a * b >> t.bits }
}

// wideProduct returns the exact product of 16-bit or 32-bit values (mul.wide).
func wideProduct(t valueType) func(a, b uint64) uint64 {
	if t.class == signed {
		return func(a, b uint64) uint64 {
			return uint64(extend(a, t.bits)*extend(b, t.bits)) & lowBits(2*t.bits)
		}
	}
	return func(a, b uint64) uint64 { return a * b }
}

// double returns the type with twice the width.
func (o *operation) double(t valueType) valueType {
	if t.bits > 32 {
		panic(o.failure("mul.wide does not support 64-bit types"))
	}
	return valueType{t.name, t.class, 2 * t.bits}
}

func compileMul(o *operation) step {
	if o.floating() {
		return compileFloatMul(o)
	}
	mode := o.need("lo", "hi", "wide")
	t := o.typ(wordTypes...)
	if mode == "wide" {
		return o.two(o.double(t), t, t, wideProduct(t))
	}
	return o.binary(t, multiplyInteger(t, mode == "hi"))
}

func compileMad(o *operation) step {
	if o.floating() {
		return compileFMA(o)
	}
	mode := o.need("lo", "hi", "wide")
	if o.has("cc") {
		return o.carryMad(mode, false)
	}
	sat := o.has("sat")
	t := o.typ(wordTypes...)
	o.end(4)
	if sat && (t.name != "s32" || mode != "hi") {
		panic(o.failure("mad.sat needs .hi.s32"))
	}
	wide := t
	if mode == "wide" {
		wide = o.double(t)
	}
	d, a, b, c := o.destination(wide), o.source(1, t), o.source(2, t), o.source(3, wide)
	m := wide.mask()
	f := multiplyInteger(t, mode == "hi")
	switch {
	case mode == "wide":
		f = wideProduct(t)
	case sat:
		return mapThree(d, a, b, c, func(a, b, c uint64) uint64 {
			return uint64(uint32(min(max(extend(f(a, b), 32)+extend(c, 32), clampRange[0]), clampRange[1])))
		})
	case mode == "lo":
		return whole(func(w *warp) {
			d, a, b, c := &w.r[d], &w.r[a], &w.r[b], &w.r[c]
			for i := range d {
				d[i] = (a[i]*b[i] + c[i]) & m
			}
		}, mapThree(d, a, b, c, func(a, b, c uint64) uint64 { return (a*b + c) & m }))
	}
	return mapThree(d, a, b, c, func(a, b, c uint64) uint64 { return (f(a, b) + c) & m })
}

func compileMadCarry(o *operation) step { return o.carryMad(o.need("lo", "hi"), true) }

// carryMad compiles mad.cc, madc and madc.cc.
func (o *operation) carryMad(mode string, in bool) step {
	out := !in || o.has("cc")
	t := o.typ("u32", "s32", "u64", "s64")
	o.end(4)
	if mode == "wide" {
		panic(o.failure("PTX has no mad.wide.cc"))
	}
	d, a, b, c := o.destination(t), o.source(1, t), o.source(2, t), o.source(3, t)
	f := multiplyInteger(t, mode == "hi")
	return withCarry(d, func(w *warp, i int, carry uint64) (uint64, uint64) {
		if !in {
			carry = 0
		}
		p := f(w.r[a][i], w.r[b][i])
		if t.bits == 32 {
			s := p + w.r[c][i] + carry
			return s & t.mask(), s >> 32
		}
		return bits.Add64(p, w.r[c][i], carry)
	}, out)
}

func compileSad(o *operation) step {
	t := o.typ(wordTypes...)
	lt := less(t)
	return o.ternary(t, func(a, b, c uint64) uint64 {
		if lt(a, b) {
			a, b = b, a
		}
		return (c + a - b) & t.mask()
	})
}

func compileMul24(o *operation) step {
	high, t := o.need("lo", "hi") == "hi", o.typ("u32", "s32")
	return o.binary(t, multiplyInteger24(t, high))
}

func multiplyInteger24(t valueType, high bool) func(a, b uint64) uint64 {
	cut := func(v uint64) int64 {
		if t.class == signed {
			return extend(v, 24)
		}
		return int64(v & lowBits(24))
	}
	shift := 0
	if high {
		shift = 16
	}
	return func(a, b uint64) uint64 { return uint64(cut(a)*cut(b)>>shift) & t.mask() }
}

func compileMad24(o *operation) step {
	high, t := o.need("lo", "hi") == "hi", o.typ("u32", "s32")
	f := multiplyInteger24(t, high)
	return o.ternary(t, func(a, b, c uint64) uint64 { return (f(a, b) + c) & t.mask() })
}

// part extracts n bits of a word.
func part(v uint64, at, n int, t valueType) int64 {
	v = v >> at & lowBits(n)
	if t.class == signed {
		return extend(v, n)
	}
	return int64(v)
}

func compileDP4A(o *operation) step {
	ta, tb := o.typ("u32", "s32"), o.typ("u32", "s32")
	return o.ternary(valueTypes["b32"], func(a, b, c uint64) uint64 {
		s := int64(c)
		for i := 0; i < 32; i += 8 {
			s += part(a, i, 8, ta) * part(b, i, 8, tb)
		}
		return uint64(uint32(s))
	})
}

func compileDP2A(o *operation) step {
	high := o.need("lo", "hi") == "hi"
	ta, tb := o.typ("u32", "s32"), o.typ("u32", "s32")
	from := 0
	if high {
		from = 16
	}
	return o.ternary(valueTypes["b32"], func(a, b, c uint64) uint64 {
		s := int64(c)
		for i := range 2 {
			s += part(a, 16*i, 16, ta) * part(b, from+8*i, 8, tb)
		}
		return uint64(uint32(s))
	})
}
