package ptxsim

import (
	"math"
	"math/bits"
)

var convertOperations = map[string]func(*operation) step{"cvt": compileCvt}

// conversion is a cvt instruction.
type conversion struct {
	mode         rounding
	whole        string // rni, rzi, rmi, rpi
	flush        bool
	saturate     bool
	relu, finite bool
	to, from     valueType
}

func compileCvt(o *operation) step {
	var c conversion
	for reading := true; reading; {
		switch m := o.take("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "satfinite"); m {
		case "":
			reading = false
		case "rn", "rz", "rm", "rp", "rna":
			c.mode = rounding(m)
		case "ftz":
			c.flush = true
		case "sat":
			c.saturate = true
		case "relu":
			c.relu = true
		case "satfinite":
			c.finite = true
		default:
			c.whole = m
		}
	}
	c.to, c.from = o.typ(), o.typ()
	if c.to.bits == 32 && c.to.class != signed && c.to.class != unsigned && len(o.args) == 3 || c.to.class == float8 {
		return o.convertPair(&c)
	}
	if c.from.class == float8 {
		return o.convertBytes(&c)
	}
	o.end(2)
	f := o.convert(&c)
	register := valueType{c.to.name, c.to.class, max(c.to.bits, 8)}
	d, width := o.widerDestination(0, register)
	a := o.widerSource(1, c.from)
	if c.to.class == signed && width > c.to.bits {
		g := f
		f = func(v uint64) uint64 { return uint64(extend(g(v), c.to.bits)) & lowBits(width) }
	}
	return mapOne(d, a, f)
}

// floats reports whether the type is a plain floating-point one.
func (t valueType) floats() bool {
	return t.class == float || t.class == bfloat16 || t.class == tensorFloat
}

func (o *operation) convert(c *conversion) func(uint64) uint64 {
	switch {
	case c.to.integer() && c.from.integer():
		if c.mode != "" || c.whole != "" || c.flush || c.relu || c.finite {
			panic(o.failure("conversion between integers has no rounding"))
		}
		return c.integers()
	case c.to.floats() && c.from.integer():
		if c.mode == "" || c.mode == away || c.whole != "" {
			panic(o.failure("conversion of an integer needs .rn, .rz, .rm or .rp"))
		}
		return c.integerToFloat()
	case c.to.integer() && c.from.floats():
		if c.whole == "" || c.mode != "" {
			panic(o.failure("conversion to an integer needs .rni, .rzi, .rmi or .rpi"))
		}
		return c.floatToInteger()
	case c.to.floats() && c.from.floats():
		return o.floatToFloat(c)
	}
	panic(o.failure("conversion of .%s to .%s is not supported", c.from.name, c.to.name))
}

func (c *conversion) integers() func(uint64) uint64 {
	from, to := c.from, c.to
	value := func(v uint64) uint64 {
		v &= from.mask()
		if from.class == signed {
			v = uint64(extend(v, from.bits))
		}
		return v
	}
	if !c.saturate {
		return func(v uint64) uint64 { return value(v) & to.mask() }
	}
	return func(v uint64) uint64 {
		v = value(v)
		negative := from.class == signed && int64(v) < 0
		if to.class == unsigned {
			if negative {
				return 0
			}
			return min(v, to.mask())
		}
		high := to.mask() >> 1
		if negative {
			return uint64(max(int64(v), -int64(high)-1)) & to.mask()
		}
		return min(v, high)
	}
}

// integerValue gives an integer as a float64 for encode.
func integerValue(v uint64, t valueType) float64 {
	v &= t.mask()
	negative := t.class == signed && extend(v, t.bits) < 0
	if negative {
		v = -uint64(extend(v, t.bits))
	}
	scale := 1.0
	if n := bits.Len64(v); n > 53 { // the low bits count as one that sticks
		shift := n - 53
		lost := v & lowBits(shift)
		v >>= shift
		if lost != 0 {
			v |= 1
		}
		scale = math.Ldexp(1, shift)
	}
	f := float64(v) * scale
	if negative {
		f = -f
	}
	return f
}

func (c *conversion) integerToFloat() func(uint64) uint64 {
	f := formatOf(c.to)
	if c.to.name == "f64" {
		return func(v uint64) uint64 { return integerToDouble(v&c.from.mask(), c.from, c.mode) }
	}
	return func(v uint64) uint64 {
		r := f.encode(integerValue(v, c.from), c.mode)
		if c.saturate {
			return saturated(&f, r)
		}
		return r
	}
}

func integerToDouble(v uint64, t valueType, mode rounding) uint64 {
	negative := t.class == signed && extend(v, t.bits) < 0
	m := v
	if negative {
		m = -uint64(extend(v, t.bits))
	}
	if n := bits.Len64(m); n > 53 {
		shift := n - 53
		rest, half := m&lowBits(shift), uint64(1)<<(shift-1)
		m >>= shift
		if mode == toNearest && (rest > half || rest == half && m&1 == 1) || mode == down && negative && rest != 0 || mode == up && !negative && rest != 0 {
			m++
		}
		f := math.Ldexp(float64(m), shift)
		if negative {
			f = -f
		}
		return math.Float64bits(f)
	}
	f := float64(m)
	if negative {
		f = -f
	}
	return math.Float64bits(f)
}

// saturated clamps a value to 0 … 1.
func saturated(f *format, bits uint64) uint64 {
	switch x := f.decode(bits); {
	case !(x > 0):
		return 0
	case x > 1:
		return f.encode(1, toNearest)
	}
	return bits
}

// integral rounds to a whole number.
func integral(mode string, x float64) float64 {
	switch mode {
	case "rni":
		return math.RoundToEven(x)
	case "rmi":
		return math.Floor(x)
	case "rpi":
		return math.Ceil(x)
	}
	return math.Trunc(x)
}

func (c *conversion) floatToInteger() func(uint64) uint64 {
	f := formatOf(c.from)
	to := c.to
	return func(v uint64) uint64 {
		v &= c.from.mask()
		if c.flush {
			v = f.flushed(v)
		}
		x := integral(c.whole, f.decode(v))
		if x != x {
			return 0
		}
		if to.class == unsigned {
			switch {
			case x <= 0:
				return 0
			case x >= math.Ldexp(1, to.bits):
				return to.mask()
			}
			return uint64(x)
		}
		limit := math.Ldexp(1, to.bits-1)
		switch {
		case x >= limit:
			return to.mask() >> 1
		case x <= -limit:
			return to.mask()>>1 + 1
		}
		return uint64(int64(x)) & to.mask()
	}
}

func (o *operation) floatToFloat(c *conversion) func(uint64) uint64 {
	from, to := formatOf(c.from), formatOf(c.to)
	mode := c.mode
	switch {
	case c.to.class == tensorFloat:
		if c.from.name != "f32" || mode == "" {
			panic(o.failure("conversion to tf32 is from f32, with rounding"))
		}
		return func(v uint64) uint64 { return roundTensorFloat(v, mode, c.relu) }
	case c.from.class == tensorFloat:
		panic(o.failure("conversion from tf32 does not exist"))
	case mode == "" && (to.precision < from.precision || to.low > from.low):
		panic(o.failure("conversion of .%s to .%s needs rounding", c.from.name, c.to.name))
	case mode == away:
		panic(o.failure(".rna is for tf32"))
	case to.bits == 64 && mode != "":
		panic(o.failure("conversion to f64 is exact"))
	case mode == "":
		mode = toNearest
	}
	if c.finite {
		panic(o.failure(".satfinite is not supported for .%s", c.to.name))
	}
	return func(v uint64) uint64 {
		v &= c.from.mask()
		if c.flush && from.bits == 32 {
			v = from.flushed(v)
		}
		x := from.decode(v)
		if c.whole != "" {
			x = integral(c.whole, x)
		}
		r := to.encode(x, mode)
		if c.flush && to.bits == 32 {
			r = to.flushed(r)
		}
		if c.saturate {
			r = saturated(&to, r)
		}
		if c.relu && r>>(to.bits-1) == 1 {
			r = 0
		}
		return r
	}
}

// roundTensorFloat rounds f32 to the 10 bits of fraction of tf32.
func roundTensorFloat(v uint64, mode rounding, relu bool) uint64 {
	m := v & 0x7fffffff
	if m > 0x7f800000 {
		return 0x7fffffff
	}
	if m == 0x7f800000 {
		return v
	}
	const cut = 1<<13 - 1
	rest := m & cut
	m &^= cut
	if mode == away && rest >= 1<<12 || mode == toNearest && (rest > 1<<12 || rest == 1<<12 && m>>13&1 == 1) {
		m += 1 << 13
	}
	if relu && v>>31 == 1 {
		return 0
	}
	return v>>31<<31 | m
}

// convertPair compiles the conversions whose result is packed: d = {a, b} with
// a in the upper half.
func (o *operation) convertPair(c *conversion) step {
	var width int
	switch c.to.name {
	case "f16x2", "bf16x2":
		width = 16
	case "e4m3x2", "e5m2x2":
		width = 8
	default:
		panic(o.failure("conversion of two values to .%s is not supported", c.to.name))
	}
	if c.mode != toNearest && !(c.mode == toZero && width == 16) || width == 8 && !c.finite || c.flush || c.saturate || c.whole != "" {
		panic(o.failure("conversion to .%s with these modifiers is not supported", c.to.name))
	}
	to := formatOf(c.to)
	one := func(x float64) uint64 {
		r := to.encode(x, c.mode)
		if c.finite && x == x && r&lowBits(width-1) >= to.infinity {
			r = r>>(width-1)<<(width-1) | to.largest
		}
		if c.relu && r>>(width-1) == 1 {
			r = 0
		}
		return r
	}
	if c.from.name == "f16x2" && width == 8 {
		return o.one(c.to, c.from, func(a uint64) uint64 {
			return one(format16.decode(a>>16))<<8 | one(format16.decode(a&0xffff))
		})
	}
	if c.from.name != "f32" {
		panic(o.failure("conversion of .%s to .%s is not supported", c.from.name, c.to.name))
	}
	return o.two(c.to, c.from, c.from, func(a, b uint64) uint64 {
		return one(float64(value32(a)))<<width | one(float64(value32(b)))
	})
}

// convertBytes compiles the conversion of two 8-bit floats to two halves.
func (o *operation) convertBytes(c *conversion) step {
	if c.to.name != "f16x2" || c.from.bits != 16 || c.mode != toNearest || c.finite {
		panic(o.failure("conversion of .%s to .%s is not supported", c.from.name, c.to.name))
	}
	from := formatOf(c.from)
	one := func(v uint64) uint64 {
		r := format16.encode(from.decode(v&0xff), toNearest)
		if c.relu && r>>15 == 1 {
			r = 0
		}
		return r
	}
	return o.one(c.to, c.from, func(a uint64) uint64 { return one(a>>8)<<16 | one(a) })
}
