package ptxsim

import "math/bits"

var compareOperations = map[string]func(*operation) step{
	"setp": compileSetp, "set": compileSet, "selp": compileSelp, "slct": compileSlct,
}

// setPredicate returns a step that writes a predicate.
func setPredicate(d int, f func(w *warp, lane int) bool) step {
	return func(w *warp, mask uint32) {
		var v uint32
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m) & 31; f(w, i) {
				v |= 1 << i
			}
		}
		w.p[d] = w.p[d]&^mask | v
	}
}

var comparisonNames = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
	"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

// compare returns the test of two values.
func (o *operation) compare(name string, t valueType, flush bool) func(a, b uint64) bool {
	switch t.class {
	case float, bfloat16:
		return o.compareFloat(name, t, flush)
	case untyped:
		if name != "eq" && name != "ne" {
			panic(o.failure("untyped bits have no order"))
		}
	}
	lt := less(t)
	switch name {
	case "lo", "ls", "hi", "hs":
		if t.class != unsigned {
			panic(o.failure("%s needs an unsigned type", name))
		}
	}
	switch name {
	case "eq":
		return func(a, b uint64) bool { return a == b }
	case "ne":
		return func(a, b uint64) bool { return a != b }
	case "lt", "lo":
		return lt
	case "le", "ls":
		return func(a, b uint64) bool { return !lt(b, a) }
	case "gt", "hi":
		return func(a, b uint64) bool { return lt(b, a) }
	case "ge", "hs":
		return func(a, b uint64) bool { return !lt(a, b) }
	}
	panic(o.failure("comparison .%s of .%s is not supported", name, t.name))
}

// floatTests are the comparisons of floats. Those that end with u are true if an operand is NaN.
var floatTests = map[string]func(x, y float64) bool{
	"eq":  func(x, y float64) bool { return x == y },
	"ne":  func(x, y float64) bool { return x < y || x > y },
	"lt":  func(x, y float64) bool { return x < y },
	"le":  func(x, y float64) bool { return x <= y },
	"gt":  func(x, y float64) bool { return x > y },
	"ge":  func(x, y float64) bool { return x >= y },
	"equ": func(x, y float64) bool { return !(x < y || x > y) },
	"neu": func(x, y float64) bool { return x != y },
	"ltu": func(x, y float64) bool { return !(x >= y) },
	"leu": func(x, y float64) bool { return !(x > y) },
	"gtu": func(x, y float64) bool { return !(x <= y) },
	"geu": func(x, y float64) bool { return !(x < y) },
	"num": func(x, y float64) bool { return x == x && y == y },
	"nan": func(x, y float64) bool { return x != x || y != y },
}

func (o *operation) compareFloat(name string, t valueType, flush bool) func(a, b uint64) bool {
	test := floatTests[name]
	if test == nil {
		panic(o.failure("comparison .%s of .%s is not supported", name, t.name))
	}
	f := formatOf(t)
	return func(a, b uint64) bool {
		if flush {
			a, b = f.flushed(a), f.flushed(b)
		}
		return test(f.decode(a), f.decode(b))
	}
}

// connective returns the boolean operation of setp.lt.and and similar instructions.
func connective(name string, a, b uint32) uint32 {
	switch name {
	case "and":
		return a & b
	case "or":
		return a | b
	case "xor":
		return a ^ b
	}
	return a
}

var comparedTypes = []string{"b16", "b32", "b64", "s16", "s32", "s64", "u16", "u32", "u64", "f16", "f32", "f64", "bf16"}

func compileSetp(o *operation) step {
	name := o.need(comparisonNames...)
	join := o.take("and", "or", "xor")
	flush := o.has("ftz")
	for _, m := range o.mods[o.read:] {
		if m == "f16x2" || m == "bf16x2" {
			return o.setPair(name, join, flush)
		}
	}
	t := o.typ(comparedTypes...)
	n := 3
	if join != "" {
		n = 4
	}
	o.end(n)
	d, d2 := o.predicatePair()
	test := o.compare(name, t, flush)
	a, b := o.source(1, t), o.source(2, t)
	c, not := 0, false
	if join != "" {
		c, not = o.predicate(3)
	}
	return func(w *warp, mask uint32) {
		var v uint32
		x, y := &w.r[a], &w.r[b]
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m) & 31; test(x[i], y[i]) {
				v |= 1 << i
			}
		}
		first, second := v, ^v
		if join != "" {
			other := flip(w.p[c], not)
			first, second = connective(join, v, other), connective(join, ^v, other)
		}
		w.p[d] = w.p[d]&^mask | first&mask
		if d2 >= 0 {
			w.p[d2] = w.p[d2]&^mask | second&mask
		}
	}
}

// predicatePair returns the one or two destinations of p|q; -1 for none.
func (o *operation) predicatePair() (p, q int) {
	if o.args[0].kind == operandPair {
		return o.predicateDestination(&o.args[0].items[0]), o.predicateDestination(&o.args[0].items[1])
	}
	return o.predicateDestination(&o.args[0]), -1
}

// setPair compiles setp of two packed 16-bit floats, with a predicate for each.
func (o *operation) setPair(name, join string, flush bool) step {
	t := o.typ("f16x2", "bf16x2")
	o.end(3)
	if join != "" {
		panic(o.failure("setp of packed values with .and, .or or .xor is not supported"))
	}
	d, d2 := o.predicatePair()
	if d2 < 0 {
		panic(o.failure("setp of packed values needs two destinations"))
	}
	element := valueTypes["f16"]
	if t.class == bfloat16Pair {
		element = valueTypes["bf16"]
	}
	test := o.compare(name, element, flush)
	a, b := o.source(1, t), o.source(2, t)
	low := setPredicate(d, func(w *warp, i int) bool { return test(w.r[a][i]&0xffff, w.r[b][i]&0xffff) })
	high := setPredicate(d2, func(w *warp, i int) bool { return test(w.r[a][i]>>16, w.r[b][i]>>16) })
	return func(w *warp, mask uint32) {
		low(w, mask)
		high(w, mask)
	}
}

// compileSet compiles a comparison whose result is a number.
func compileSet(o *operation) step {
	name := o.need(comparisonNames...)
	join := o.take("and", "or", "xor")
	flush := o.has("ftz")
	dt := o.typ("u32", "s32", "f32")
	t := o.typ(comparedTypes...)
	n := 3
	if join != "" {
		n = 4
	}
	o.end(n)
	yes := uint64(0xffffffff)
	if dt.class == float {
		yes = 0x3f800000
	}
	test := o.compare(name, t, flush)
	d, a, b := o.destination(dt), o.source(1, t), o.source(2, t)
	c, not := 0, false
	if join != "" {
		c, not = o.predicate(3)
	}
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			var v uint32
			if test(w.r[a][i], w.r[b][i]) {
				v = 1
			}
			if join != "" {
				v = connective(join, v, flip(w.p[c], not)>>i&1)
			}
			w.r[d][i] = uint64(v) * yes
		}
	}
}

func compileSelp(o *operation) step {
	t := o.typ("b16", "b32", "b64", "s16", "s32", "s64", "u16", "u32", "u64", "f16", "f32", "f64", "bf16")
	o.end(4)
	d, a, b := o.destination(t), o.source(1, t), o.source(2, t)
	p, not := o.predicate(3)
	return func(w *warp, mask uint32) {
		d, a, b, p := &w.r[d], &w.r[a], &w.r[b], flip(w.p[p], not)
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			if p>>i&1 == 1 {
				d[i] = a[i]
			} else {
				d[i] = b[i]
			}
		}
	}
}

func compileSlct(o *operation) step {
	flush := o.has("ftz")
	t := o.typ("b16", "b32", "b64", "s16", "s32", "s64", "u16", "u32", "u64", "f32", "f64")
	ct := o.typ("s32", "f32")
	return o.three(t, t, t, ct, func(a, b, c uint64) uint64 {
		first := int32(c) >= 0
		if ct.class == float {
			if flush {
				c = format32.flushed(c)
			}
			first = value32(c) >= 0
		}
		if first {
			return a
		}
		return b
	})
}
