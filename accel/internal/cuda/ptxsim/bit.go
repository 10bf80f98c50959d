package ptxsim

import (
	"math/bits"
)

var bitOperations = map[string]func(*operation) step{
	"and": compileAnd, "or": compileOr, "xor": compileXor, "not": compileNot,
	"shl": compileShl, "shr": compileShr, "shf": compileShf, "lop3": compileLop3, "prmt": compilePrmt,
	"popc": compilePopc, "clz": compileClz, "brev": compileBrev, "bfind": compileBfind,
	"bfe": compileBfe, "bfi": compileBfi, "fns": compileFns,
}

// logic compiles an operation on bits, or on predicates.
func (o *operation) logic(f func(a, b uint64) uint64) step {
	t := o.typ("pred", "b16", "b32", "b64")
	if t.class != predicate {
		return o.binary(t, f)
	}
	o.end(3)
	d := o.predicateDestination(&o.args[0])
	a, notA := o.predicate(1)
	b, notB := o.predicate(2)
	return func(w *warp, mask uint32) {
		v := uint32(f(uint64(flip(w.p[a], notA)), uint64(flip(w.p[b], notB))))
		w.set(d, mask, v)
	}
}

func flip(p uint32, not bool) uint32 {
	if not {
		return ^p
	}
	return p
}

func compileAnd(o *operation) step { return o.logic(func(a, b uint64) uint64 { return a & b }) }
func compileOr(o *operation) step  { return o.logic(func(a, b uint64) uint64 { return a | b }) }
func compileXor(o *operation) step { return o.logic(func(a, b uint64) uint64 { return a ^ b }) }

func compileNot(o *operation) step {
	t := o.typ("pred", "b16", "b32", "b64")
	if t.class != predicate {
		return o.unary(t, func(a uint64) uint64 { return ^a & t.mask() })
	}
	o.end(2)
	d := o.predicateDestination(&o.args[0])
	a, not := o.predicate(1)
	return func(w *warp, mask uint32) { w.set(d, mask, flip(w.p[a], !not)) }
}

// shift compiles shl and shr. The amount always has 32 bits.
func (o *operation) shift(t valueType, f func(a, n uint64) uint64) step {
	return o.two(t, t, valueTypes["u32"], f)
}

func compileShl(o *operation) step {
	t := o.typ("b16", "b32", "b64")
	m := t.mask()
	return o.shift(t, func(a, n uint64) uint64 { return a << n & m })
}

func compileShr(o *operation) step {
	t := o.typ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64")
	m := t.mask()
	if t.class == signed {
		return o.shift(t, func(a, n uint64) uint64 { return uint64(extend(a, t.bits)>>n) & m })
	}
	return o.shift(t, func(a, n uint64) uint64 { return a >> n })
}

// compileShf compiles the funnel shift of two words.
func compileShf(o *operation) step {
	left, wrap := o.need("l", "r") == "l", o.need("clamp", "wrap") == "wrap"
	t := o.typ("b32")
	return o.ternary(t, func(a, b, c uint64) uint64 {
		n := c & 31
		if !wrap {
			n = min(c, 32)
		}
		if left {
			return (b<<32 | a) << n >> 32 & t.mask()
		}
		return (b<<32 | a) >> n & t.mask()
	})
}

func compileLop3(o *operation) step {
	if o.take("or", "and") != "" {
		panic(o.failure("lop3 with a predicate is not supported"))
	}
	t := o.typ("b32")
	o.end(5)
	d, a, b, c := o.destination(t), o.source(1, t), o.source(2, t), o.source(3, t)
	table := o.args[4].bits
	if o.args[4].kind != operandInteger || table > 255 {
		panic(o.failure("lop3 needs an 8-bit lookup table"))
	}
	return mapThree(d, a, b, c, func(a, b, c uint64) (r uint64) {
		for i := range uint64(8) {
			if table>>i&1 == 0 {
				continue
			}
			x, y, z := a, b, c
			if i&4 == 0 {
				x = ^a
			}
			if i&2 == 0 {
				y = ^b
			}
			if i&1 == 0 {
				z = ^c
			}
			r |= x & y & z
		}
		return r & 0xffffffff
	})
}

// compilePrmt compiles the permutation of bytes of two words.
func compilePrmt(o *operation) step {
	t := o.typ("b32")
	mode := o.take("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	return o.ternary(t, func(a, b, c uint64) (r uint64) {
		both := b<<32 | a
		for i := range 4 {
			sel, sign := prmtSelector(mode, i, c)
			v := both >> (8 * sel) & 0xff
			if sign {
				v = uint64(uint8(int8(v) >> 7))
			}
			r |= v << (8 * i)
		}
		return r
	})
}

// prmtSelector returns the table of the manual: which byte is copied to byte i, and whether its
// sign is replicated.
func prmtSelector(mode string, i int, c uint64) (sel int, sign bool) {
	s := int(c & 3)
	switch mode {
	case "f4e":
		return s + i, false
	case "b4e":
		return (s - i) & 7, false
	case "rc8":
		return s, false
	case "ecl":
		return max(s, i), false
	case "ecr":
		return min(s, i), false
	case "rc16":
		return 2*(s&1) + i&1, false
	}
	nibble := int(c >> (4 * i))
	return nibble & 7, nibble&8 != 0
}

// counting compiles an instruction that counts bits.
func (o *operation) counting(t valueType, f func(a uint64) uint64) step {
	return o.one(valueTypes["u32"], t, f)
}

func compilePopc(o *operation) step {
	return o.counting(o.typ("b32", "b64"), func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
}

func compileClz(o *operation) step {
	t := o.typ("b32", "b64")
	return o.counting(t, func(a uint64) uint64 { return uint64(t.bits - bits.Len64(a)) })
}

func compileBrev(o *operation) step {
	t := o.typ("b32", "b64")
	return o.unary(t, func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - t.bits) })
}

func compileBfind(o *operation) step {
	amount := o.has("shiftamt")
	t := o.typ("u32", "u64", "s32", "s64")
	return o.counting(t, func(a uint64) uint64 {
		if t.class == signed && extend(a, t.bits) < 0 {
			a = ^a & t.mask()
		}
		n := bits.Len64(a) - 1
		if n < 0 {
			return 0xffffffff
		}
		if amount {
			n = t.bits - 1 - n
		}
		return uint64(n)
	})
}

func compileBfe(o *operation) step {
	t := o.typ("u32", "u64", "s32", "s64")
	u := valueTypes["u32"]
	msb := t.bits - 1
	return o.three(t, t, u, u, func(a, b, c uint64) uint64 {
		at, n := int(b&0xff), int(c&0xff)
		sign := uint64(0)
		if t.class == signed && n > 0 {
			sign = a >> min(at+n-1, msb) & 1
		}
		var field uint64
		if at <= msb {
			field = a >> at & lowBits(min(n, t.bits-at))
		}
		have := 0
		if at <= msb {
			have = min(n, t.bits-at)
		}
		if sign == 1 {
			field |= t.mask() &^ lowBits(have)
		}
		return field
	})
}

func compileBfi(o *operation) step {
	t := o.typ("b32", "b64")
	o.end(5)
	u := valueTypes["u32"]
	d, a, b, at, n := o.destination(t), o.source(1, t), o.source(2, t), o.source(3, u), o.source(4, u)
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			field := lowBits(int(w.r[n][i]&0xff)) << (w.r[at][i] & 0xff) & t.mask()
			w.r[d][i] = w.r[b][i]&^field | w.r[a][i]<<(w.r[at][i]&0xff)&field
		}
	}
}

// compileFns compiles the search for the n-th set bit.
func compileFns(o *operation) step {
	t := o.typ("b32")
	return o.ternary(t, func(mask, base, offset uint64) uint64 {
		n := int(int32(offset))
		at := int(base)
		if base > 31 {
			return 0xffffffff
		}
		step := 1
		if n < 0 {
			step, n = -1, -n
		}
		if n == 0 {
			if mask>>at&1 == 1 {
				return base
			}
			return 0xffffffff
		}
		for ; at >= 0 && at < 32; at += step {
			if mask>>at&1 == 1 {
				if n--; n == 0 {
					return uint64(at)
				}
			}
		}
		return 0xffffffff
	})
}
