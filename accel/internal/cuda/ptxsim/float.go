package ptxsim

import (
	"math"
)

var floatOperations = map[string]func(*operation) step{
	"fma": compileFMA, "copysign": compileCopysign, "testp": compileTestp,
}

var floatNames = []string{"f32", "f64", "f16", "bf16", "f16x2", "bf16x2"}

// arithmetic is the modifiers of a floating-point instruction.
type arithmetic struct {
	t        valueType
	format   format
	mode     rounding
	flush    bool // flush subnormal values to zero
	saturate bool // clamp the result to [0, 1]
	relu     bool // clamp the result to be non-negative
}

// arithmetic reads [.rnd][.ftz][.sat|.relu].type.
func (o *operation) arithmetic() *arithmetic {
	a := &arithmetic{mode: toNearest}
	if m := o.take("rn", "rz", "rm", "rp"); m != "" {
		a.mode = rounding(m)
	}
	a.flush = o.has("ftz")
	a.saturate = o.has("sat")
	a.relu = o.has("relu")
	a.t = o.typ(floatNames...)
	a.format = formatOf(a.t)
	if a.t.name == "f64" && (a.mode != toNearest || a.flush || a.saturate) {
		panic(o.failure("f64 with rounding other than .rn, or with .ftz or .sat, is not supported"))
	}
	if a.t.bits == 16 && a.mode != toNearest {
		panic(o.failure(".%s can only be rounded with .rn", a.t.name))
	}
	return a
}

func (a *arithmetic) plain32() bool {
	return a.t.name == "f32" && a.mode == toNearest && !a.flush && !a.saturate && !a.relu
}

// in decodes an operand.
func (a *arithmetic) in(bits uint64) float64 {
	if a.flush {
		bits = a.format.flushed(bits)
	}
	return a.format.decode(bits)
}

// flushed returns zero, with the same sign, for a subnormal value.
func (f *format) flushed(bits uint64) uint64 {
	magnitude := bits & lowBits(f.bits-1)
	if magnitude < 1<<(f.precision-1) {
		return bits &^ magnitude
	}
	return bits
}

// out encodes a result.
func (a *arithmetic) out(v float64) uint64 {
	bits := a.format.encode(v, a.mode)
	if a.flush {
		bits = a.format.flushed(bits)
	}
	if a.saturate {
		bits = saturated(&a.format, bits)
	}
	if a.relu && bits>>(a.format.bits-1) == 1 {
		return 0
	}
	return bits
}

// pairwise applies a function to both 16-bit floats of packed values.
func (a *arithmetic) pairwise(f func(x, y, z uint64) uint64) func(x, y, z uint64) uint64 {
	if a.t.class != float16Pair && a.t.class != bfloat16Pair {
		return f
	}
	return func(x, y, z uint64) uint64 {
		return f(x&0xffff, y&0xffff, z&0xffff) | f(x>>16, y>>16, z>>16)<<16
	}
}

func bits32(f float32) uint64 {
	if f != f {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(f))
}

func value32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// twoOperands compiles an instruction from the exact function of two values, with a loop of
// its own for plain f32.
func (o *operation) twoOperands(a *arithmetic, exact func(x, y float64) float64, full func(d, x, y *lanes)) step {
	o.end(3)
	d, x, y := o.destination(a.t), o.source(1, a.t), o.source(2, a.t)
	f := a.pairwise(func(x, y, _ uint64) uint64 { return a.out(exact(a.in(x), a.in(y))) })
	s := mapTwo(d, x, y, func(x, y uint64) uint64 { return f(x, y, 0) })
	if full == nil || !a.plain32() {
		return s
	}
	return whole(func(w *warp) { full(&w.r[d], &w.r[x], &w.r[y]) }, s)
}

func compileFloatAdd(o *operation) step {
	a := o.arithmetic()
	sum := func(x, y float64) float64 { return zeroSign(exactSum(x, y), x, y, a.mode) }
	if a.t.name == "f64" {
		sum = func(x, y float64) float64 { return x + y }
	}
	return o.twoOperands(a, sum, func(d, x, y *lanes) {
		for i := range d {
			d[i] = bits32(value32(x[i]) + value32(y[i]))
		}
	})
}

func compileFloatSub(o *operation) step {
	a := o.arithmetic()
	difference := func(x, y float64) float64 { return zeroSign(exactSum(x, -y), x, -y, a.mode) }
	if a.t.name == "f64" {
		difference = func(x, y float64) float64 { return x - y }
	}
	return o.twoOperands(a, difference, func(d, x, y *lanes) {
		for i := range d {
			d[i] = bits32(value32(x[i]) - value32(y[i]))
		}
	})
}

func compileFloatMul(o *operation) step {
	a := o.arithmetic()
	return o.twoOperands(a, func(x, y float64) float64 { return x * y }, func(d, x, y *lanes) {
		for i := range d {
			d[i] = bits32(value32(x[i]) * value32(y[i]))
		}
	})
}

// fma32 computes x·y+z, rounded once. Rounding the float64 sum to float32 is correct unless
// it lies halfway between two float32 values, or the result is subnormal.
func fma32(x, y, z uint64) uint64 {
	s := float64(value32(x))*float64(value32(y)) + float64(value32(z))
	raw := math.Float64bits(s)
	const halfway, smallest, infinite = 0x10000000, (1023 - 126) << 52, 0x7ff << 52
	if magnitude := raw &^ (1 << 63); raw&0x1fffffff == halfway || magnitude < smallest || magnitude >= infinite {
		if magnitude == 0 {
			return raw >> 32
		}
		return fma32Exact(x, y, z)
	}
	return uint64(math.Float32bits(float32(s)))
}

func fma32Exact(x, y, z uint64) uint64 {
	return format32.encode(exactFMA(float64(value32(x)), float64(value32(y)), float64(value32(z))), toNearest)
}

func compileFMA(o *operation) step {
	a := o.arithmetic()
	o.end(4)
	d, x, y, z := o.destination(a.t), o.source(1, a.t), o.source(2, a.t), o.source(3, a.t)
	if a.plain32() {
		return whole(func(w *warp) {
			d, x, y, z := &w.r[d], &w.r[x], &w.r[y], &w.r[z]
			for i := range d {
				d[i] = fma32(x[i], y[i], z[i])
			}
		}, mapThree(d, x, y, z, fma32))
	}
	if a.t.name == "f64" {
		return mapThree(d, x, y, z, func(x, y, z uint64) uint64 {
			return a.out(math.FMA(math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)))
		})
	}
	return mapThree(d, x, y, z, a.pairwise(func(x, y, z uint64) uint64 {
		p, c := a.in(x)*a.in(y), a.in(z)
		return a.out(zeroSign(exactSum(p, c), p, c, a.mode))
	}))
}

func compileFloatDiv(o *operation) step {
	approximate := o.take("approx", "full") == "approx"
	a := o.arithmetic()
	if a.t.bits < 32 || a.t.class == float16Pair || a.t.class == bfloat16Pair {
		panic(o.failure("PTX has no division of .%s", a.t.name))
	}
	if a.t.name == "f64" {
		return o.twoOperands(a, func(x, y float64) float64 { return x / y }, nil)
	}
	return o.twoOperands(a, func(x, y float64) float64 {
		// According to the manual, the approximate division by a number above 2^126 is
		// zero.
		if m := math.Abs(y); approximate && m > 0x1p126 && m < 0x1p128 {
			if math.IsInf(x, 0) {
				return math.NaN()
			}
			return math.Copysign(0, x) * math.Copysign(1, y)
		}
		return exactQuotient(x, y)
	}, nil)
}

// signBits compiles abs and neg.
func (o *operation) signBits(f func(v, sign uint64) uint64) step {
	flush := o.has("ftz")
	t := o.typ(floatNames...)
	form := formatOf(t)
	sign := uint64(1) << (form.bits - 1)
	if t.class == float16Pair || t.class == bfloat16Pair {
		sign |= sign << 16
	}
	return o.unary(t, func(v uint64) uint64 {
		if flush && t.name == "f32" {
			v = form.flushed(v)
		}
		return f(v, sign)
	})
}

func compileFloatAbs(o *operation) step {
	return o.signBits(func(v, sign uint64) uint64 { return v &^ sign })
}

func compileFloatNeg(o *operation) step {
	return o.signBits(func(v, sign uint64) uint64 { return v ^ sign })
}

func compileCopysign(o *operation) step {
	t := o.typ("f32", "f64")
	sign := uint64(1) << (t.bits - 1)
	return o.binary(t, func(a, b uint64) uint64 { return b&^sign | a&sign })
}

func compileFloatExtreme(o *operation, smallest bool) step {
	a := &arithmetic{mode: toNearest}
	a.flush = o.has("ftz")
	propagate := o.has("NaN")
	xorsign := false
	if o.has("xorsign") {
		o.need("abs")
		xorsign = true
	}
	a.t = o.typ(floatNames...)
	a.format = formatOf(a.t)
	if a.t.name == "f64" && (propagate || a.flush || xorsign) {
		panic(o.failure("min and max of f64 have no modifiers"))
	}
	top := uint64(1) << (a.format.bits - 1)
	f := a.pairwise(func(x, y, _ uint64) uint64 {
		if a.flush {
			x, y = a.format.flushed(x), a.format.flushed(y)
		}
		sign := (x ^ y) & top
		if xorsign {
			x, y = x&^top, y&^top
		}
		u, v := a.format.decode(x), a.format.decode(y)
		switch {
		case u != u && v != v, propagate && (u != u || v != v):
			return a.format.nan
		case u != u:
			x = y
		case v != v:
		case u == v: // -0 is below +0
			if (y&top != 0) == smallest {
				x = y
			}
		case (v < u) == smallest:
			x = y
		}
		if xorsign {
			x = x&^top | sign
		}
		return x
	})
	return o.binary(a.t, func(x, y uint64) uint64 { return f(x, y, 0) })
}

func compileTestp(o *operation) step {
	kind := o.need("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	t := o.typ("f32", "f64")
	o.end(2)
	form := formatOf(t)
	d, a := o.predicateDestination(&o.args[0]), o.source(1, t)
	return setPredicate(d, func(w *warp, i int) bool {
		m := w.r[a][i] & lowBits(t.bits-1)
		switch kind {
		case "finite":
			return m < form.infinity
		case "infinite":
			return m == form.infinity
		case "number":
			return m <= form.infinity
		case "notanumber":
			return m > form.infinity
		case "normal":
			return m < form.infinity && m >= 1<<(form.precision-1)
		}
		return m > 0 && m < 1<<(form.precision-1)
	})
}
