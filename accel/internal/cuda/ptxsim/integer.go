package ptxsim

import (
	"math"
	"math/bits"
)

// integerOperations are the integer instructions. For opcodes that are also floating-point
// ones, they call float.go if the type is a floating-point type.
var integerOperations = map[string]func(*operation) step{
	"add": compileAdd, "sub": compileSub, "mul": compileMul, "mad": compileMad,
	"div": compileDiv, "rem": compileRem, "abs": compileAbs, "neg": compileNeg,
	"min": compileMin, "max": compileMax, "sad": compileSad,
	"addc": compileAddCarry, "subc": compileSubCarry, "madc": compileMadCarry,
	"mul24": compileMul24, "mad24": compileMad24, "dp4a": compileDP4A, "dp2a": compileDP2A,
}

// floating reports whether the last modifier is a floating-point type.
func (o *operation) floating() bool {
	if len(o.mods) == 0 {
		return false
	}
	switch valueTypes[o.mods[len(o.mods)-1]].class {
	case float, bfloat16, float16Pair, bfloat16Pair:
		return true
	}
	return false
}

var (
	wordTypes  = []string{"s16", "u16", "s32", "u32", "s64", "u64"}
	clampRange = [2]int64{math.MinInt32, math.MaxInt32}
)

func compileAdd(o *operation) step {
	if o.floating() {
		return compileFloatAdd(o)
	}
	if o.has("cc") {
		return o.carry(false, bits.Add64, 32)
	}
	sat := o.has("sat")
	t := o.typ(append(wordTypes, "u16x2", "s16x2")...)
	if sat {
		if t.name != "s32" {
			panic(o.failure("add.sat needs the type s32"))
		}
		return o.binary(t, func(a, b uint64) uint64 {
			return uint64(uint32(min(max(extend(a, 32)+extend(b, 32), clampRange[0]), clampRange[1])))
		})
	}
	if t.class == integerPair {
		return o.binary(t, func(a, b uint64) uint64 { return (a+b)&0xffff | (a&0xffff0000+b&0xffff0000)&0xffff0000 })
	}
	m := t.mask()
	o.end(3)
	d, a, b := o.destination(t), o.source(1, t), o.source(2, t)
	return whole(func(w *warp) {
		d, a, b := &w.r[d], &w.r[a], &w.r[b]
		for i := range d {
			d[i] = (a[i] + b[i]) & m
		}
	}, mapTwo(d, a, b, func(a, b uint64) uint64 { return (a + b) & m }))
}

func compileSub(o *operation) step {
	if o.floating() {
		return compileFloatSub(o)
	}
	if o.has("cc") {
		return o.carry(false, bits.Sub64, 63)
	}
	sat := o.has("sat")
	t := o.typ(wordTypes...)
	if sat {
		if t.name != "s32" {
			panic(o.failure("sub.sat needs the type s32"))
		}
		return o.binary(t, func(a, b uint64) uint64 {
			return uint64(uint32(min(max(extend(a, 32)-extend(b, 32), clampRange[0]), clampRange[1])))
		})
	}
	m := t.mask()
	return o.binary(t, func(a, b uint64) uint64 { return (a - b) & m })
}

func compileAddCarry(o *operation) step { return o.carry(true, bits.Add64, 32) }
func compileSubCarry(o *operation) step { return o.carry(true, bits.Sub64, 63) }

// carry compiles add.cc, addc and addc.cc, or sub.cc, subc and subc.cc, whose carry is the
// borrow. f computes them for 64 bits. For 32 bits bit out of its result is the carry.
func (o *operation) carry(in bool, f func(a, b, carry uint64) (result, carryOut uint64), out int) step {
	sets := !in || o.has("cc")
	t := o.typ("u32", "s32", "b32", "u64", "s64", "b64")
	o.end(3)
	d, a, b := o.destination(t), o.source(1, t), o.source(2, t)
	return withCarry(d, func(w *warp, i int, carry uint64) (uint64, uint64) {
		if !in {
			carry = 0
		}
		s, c := f(w.r[a][i], w.r[b][i], carry)
		if t.bits == 32 {
			s, c = s&t.mask(), s>>out
		}
		return s, c
	}, sets)
}

// withCarry returns a step that reads the carry of each lane and may set it.
func withCarry(d int, f func(w *warp, lane int, carry uint64) (value, out uint64), sets bool) step {
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			v, c := f(w, i, uint64(w.carry>>i&1))
			w.r[d][i] = v
			if sets {
				w.carry = w.carry&^(1<<i) | uint32(c)<<i
			}
		}
	}
}

func compileDiv(o *operation) step {
	if o.floating() {
		return compileFloatDiv(o)
	}
	t := o.typ(wordTypes...)
	return o.binary(t, quotient(t))
}

// quotient by zero has all bits set, as on GPUs; the manual leaves it undefined.
func quotient(t valueType) func(a, b uint64) uint64 {
	m := t.mask()
	if t.class == unsigned {
		return func(a, b uint64) uint64 {
			if b == 0 {
				return m
			}
			return a / b
		}
	}
	return func(a, b uint64) uint64 {
		x, y := extend(a, t.bits), extend(b, t.bits)
		switch y {
		case 0:
			return m
		case -1:
			return uint64(-x) & m
		}
		return uint64(x/y) & m
	}
}

func compileRem(o *operation) step {
	t := o.typ(wordTypes...)
	m := t.mask()
	return o.binary(t, func(a, b uint64) uint64 {
		if b == 0 {
			return a
		}
		if t.class == unsigned {
			return a % b
		}
		x, y := extend(a, t.bits), extend(b, t.bits)
		if y == -1 {
			return 0
		}
		return uint64(x%y) & m
	})
}

func compileAbs(o *operation) step {
	if o.floating() {
		return compileFloatAbs(o)
	}
	t := o.typ("s16", "s32", "s64")
	return o.unary(t, func(a uint64) uint64 {
		if extend(a, t.bits) < 0 {
			return -a & t.mask()
		}
		return a
	})
}

func compileNeg(o *operation) step {
	if o.floating() {
		return compileFloatNeg(o)
	}
	t := o.typ("s16", "s32", "s64")
	return o.unary(t, func(a uint64) uint64 { return -a & t.mask() })
}

// less returns the comparison of integers.
func less(t valueType) func(a, b uint64) bool {
	if t.class == signed {
		return func(a, b uint64) bool { return extend(a, t.bits) < extend(b, t.bits) }
	}
	return func(a, b uint64) bool { return a < b }
}

func compileMin(o *operation) step { return compileExtreme(o, true) }
func compileMax(o *operation) step { return compileExtreme(o, false) }

func compileExtreme(o *operation, smallest bool) step {
	if o.floating() {
		return compileFloatExtreme(o, smallest)
	}
	relu := false
	if len(o.mods) > 1 { // min.relu.s32
		relu = o.has("relu")
	}
	t := o.typ(append(wordTypes, "u16x2", "s16x2")...)
	if t.class == integerPair {
		half := valueType{"", signed, 16}
		if t.name == "u16x2" {
			half.class = unsigned
		}
		f := extreme(half, smallest, relu)
		return o.binary(t, func(a, b uint64) uint64 { return f(a&0xffff, b&0xffff) | f(a>>16, b>>16)<<16 })
	}
	if relu && t.name != "s32" {
		panic(o.failure("relu needs the type s32 or s16x2"))
	}
	return o.binary(t, extreme(t, smallest, relu))
}

func extreme(t valueType, smallest, relu bool) func(a, b uint64) uint64 {
	lt := less(t)
	return func(a, b uint64) uint64 {
		if lt(b, a) == smallest {
			a = b
		}
		if relu && extend(a, t.bits) < 0 {
			return 0
		}
		return a
	}
}
