package ptxsim

import (
	"math"
	"math/bits"
	"slices"
)

var atomicOperations = map[string]func(*operation) step{"atom": compileAtom, "red": compileRed}

func compileAtom(o *operation) step { return o.atomic(true) }
func compileRed(o *operation) step  { return o.atomic(false) }

// atomic compiles atom, which returns the old value, and red, which does not.
func (o *operation) atomic(result bool) step {
	a := access{vector: 1, strong: true}
	if m := o.take("async"); m != "" {
		panic(o.failure("red.async is not supported"))
	}
	order := o.take("relaxed", "acquire", "release", "acq_rel")
	wide := slices.Contains([]string{"gpu", "sys"}, o.take("cta", "cluster", "gpu", "sys"))
	a.releases = wide && (order == "release" || order == "acq_rel")
	a.acquires = wide && (order == "acquire" || order == "acq_rel")
	a.space = plainSpace(o.take("global", "shared", "shared::cta"))
	name := o.need("add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max")
	o.has("noftz")
	policy := o.has("L2::cache_hint")
	a.t = o.typ("b16", "b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2")
	at, operands := 0, 2
	if result {
		at, operands = 1, 3
	}
	if name == "cas" {
		operands++
	}
	if policy {
		operands++
	}
	o.end(operands)
	f := o.change(name, a.t)
	o.address(&o.args[at], &a)
	b := o.source(at+1, a.t)
	c := b
	if name == "cas" {
		c = o.source(at+2, a.t)
	}
	d := -1
	if result {
		d = o.destination(a.t)
	} else if name == "cas" || name == "exch" {
		panic(o.failure("red.%s is not a PTX instruction", name))
	}
	o.memory = &memoryAccess{access: a, write: true, atomic: true}
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask)
			x, y := w.r[b][i], w.r[c][i]
			old := w.change(&a, i, w.r[a.base][i]+a.offset, func(old uint64) uint64 { return f(old, x, y) })
			if d >= 0 {
				w.r[d][i] = old
			}
		}
	}
}

// change returns the function that computes the new value of an atomic operation.
func (o *operation) change(name string, t valueType) func(old, x, y uint64) uint64 {
	m := t.mask()
	if t.class == float || t.class == bfloat16 || t.class == float16Pair || t.class == bfloat16Pair {
		if name != "add" {
			panic(o.failure("atomic %s of .%s is not supported", name, t.name))
		}
		if t.name == "f64" {
			return func(old, x, _ uint64) uint64 {
				return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(x))
			}
		}
		a := &arithmetic{t: t, format: formatOf(t), mode: toNearest}
		return a.pairwise(func(old, x, _ uint64) uint64 { return a.out(exactSum(a.in(old), a.in(x))) })
	}
	if t.bits == 16 && name != "cas" {
		panic(o.failure("atomic %s of .%s is not supported", name, t.name))
	}
	lt := less(t)
	switch name {
	case "add":
		return func(old, x, _ uint64) uint64 { return (old + x) & m }
	case "and":
		return func(old, x, _ uint64) uint64 { return old & x }
	case "or":
		return func(old, x, _ uint64) uint64 { return old | x }
	case "xor":
		return func(old, x, _ uint64) uint64 { return old ^ x }
	case "exch":
		return func(_, x, _ uint64) uint64 { return x }
	case "cas":
		return func(old, x, y uint64) uint64 {
			if old == x {
				return y
			}
			return old
		}
	case "inc":
		return func(old, x, _ uint64) uint64 {
			if old >= x {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, x, _ uint64) uint64 {
			if old == 0 || old > x {
				return x
			}
			return old - 1
		}
	case "min":
		return func(old, x, _ uint64) uint64 {
			if lt(x, old) {
				return x
			}
			return old
		}
	}
	return func(old, x, _ uint64) uint64 {
		if lt(old, x) {
			return x
		}
		return old
	}
}

// change replaces a value in memory and returns the old one.
func (w *warp) change(a *access, lane int, address uint64, f func(uint64) uint64) uint64 {
	space, n := a.space, a.t.bytes()
	if space == "" {
		space, address = generic(address)
	}
	switch space {
	case "shared":
		b := w.atomicShared(lane, address, n)
		old := getBits(b, n)
		putBits(b, f(old), n)
		return old
	case "local", "param":
		panic(w.accessFault(OutOfBounds, lane, space, address, n, "atomic instructions are for global and shared memory"))
	}
	r, at := w.global(lane, address, n, n, &w.sites[a.site])
	if r.fixed {
		panic(w.accessFault(OutOfBounds, lane, "const", address, n, "constant memory cannot be written"))
	}
	w.touch(lane, r, at, n, changes)
	if a.releases || a.acquires {
		w.synchronize(r, at, a.releases, a.acquires)
	}
	w.unwritten(lane, r, at, n)
	return changeAtomic(r.data, at, n, f)
}
