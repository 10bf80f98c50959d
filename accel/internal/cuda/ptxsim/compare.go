package ptxsim

import "math/bits"

var compareOperations = map[string]func(*operation) step{
	"setp": compileSetp, "set": compileSet, "selp": compileSelp,
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
		w.set(d, mask, v)
	}
}

// set writes a predicate in the lanes of a mask.
func (w *warp) set(predicate int, mask, v uint32) {
	w.p[predicate] = w.p[predicate]&^mask | v&mask
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

// comparison is what setp and set have in common.
type comparison struct {
	test func(a, b uint64) bool
	a, b int
	join string // what the result is combined with a predicate by; empty for none
	with int    // the predicate
	not  bool
}

// comparison compiles the comparison of operands of a type.
func (o *operation) comparison(name, join string, flush bool, t valueType) *comparison {
	c := &comparison{join: join}
	if join == "" {
		o.end(3)
	} else {
		o.end(4)
		c.with, c.not = o.predicate(3)
	}
	c.test, c.a, c.b = o.compare(name, t, flush), o.source(1, t), o.source(2, t)
	return c
}

// results returns the lanes in which the comparison holds, and those in which it does not, combined with the predicate.
func (c *comparison) results(w *warp, mask uint32) (yes, no uint32) {
	x, y := &w.r[c.a], &w.r[c.b]
	for m := mask; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; c.test(x[i], y[i]) {
			yes |= 1 << i
		}
	}
	if no = ^yes; c.join != "" {
		other := flip(w.p[c.with], c.not)
		yes, no = connective(c.join, yes, other), connective(c.join, no, other)
	}
	return yes, no
}

func compileSetp(o *operation) step {
	name := o.need(comparisonNames...)
	join := o.take("and", "or", "xor")
	flush := o.has("ftz")
	for _, m := range o.mods[o.read:] {
		if m == "f16x2" || m == "bf16x2" {
			return o.setPair(name, join, flush)
		}
	}
	c := o.comparison(name, join, flush, o.typ(comparedTypes...))
	d, d2 := o.predicatePair()
	return func(w *warp, mask uint32) {
		yes, no := c.results(w, mask)
		w.set(d, mask, yes)
		if d2 >= 0 {
			w.set(d2, mask, no)
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
	c := o.comparison(name, join, flush, o.typ(comparedTypes...))
	one := uint64(0xffffffff)
	if dt.class == float {
		one = 0x3f800000
	}
	d := o.destination(dt)
	return func(w *warp, mask uint32) {
		yes, _ := c.results(w, mask)
		w.broadcast(d, mask, 0)
		w.broadcast(d, mask&yes, one)
	}
}

func compileSelp(o *operation) step {
	t := o.typ(comparedTypes...)
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
