package ptxsim

import (
	"strings"
)

var memoryOperations = map[string]func(*operation) step{"ld": compileLd, "ldu": compileLdu, "st": compileSt}

// access describes the memory operand of an instruction.
type access struct {
	space  string // empty for generic addresses
	base   int    // register
	offset uint64
	entry  bool // a parameter of the entry
	strong bool // ordered with atomic instructions
	vector int
	t      valueType
	site   int

	releases, acquires bool // what an atomic instruction passes on to or takes from other blocks
}

func (a *access) size() int { return a.vector * a.t.bytes() }

// Cache hints, which do not change results.
var cacheHints = []string{"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
	"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
	"L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"}

// accessAt reads the modifiers and the address of ld or st, the operand with this index.
func (o *operation) accessAt(operand int) access {
	a, policy := o.access()
	n := 2
	if policy {
		n = 3
	}
	o.end(n)
	o.address(&o.args[operand], &a)
	if policy {
		o.source(2, valueTypes["b64"])
	}
	return a
}

// access reads the modifiers of ld and st up to and including the type. policy reports
// whether a cache-policy operand follows.
func (o *operation) access() (a access, policy bool) {
	a.vector = 1
	spaces := []string{"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const"}
	order := []string{"weak", "volatile", "relaxed", "acquire", "release", "mmio", "cta", "cluster", "gpu", "sys"}
	for o.read < len(o.mods) {
		if m := o.take(order...); m != "" {
			a.strong = m != "weak"
			continue
		}
		if m := o.take(spaces...); m != "" {
			if a.space != "" {
				panic(o.failure("only one state space is allowed"))
			}
			a.space = plainSpace(m)
			continue
		}
		if o.take(cacheHints...) != "" {
			continue
		}
		if o.has("L2::cache_hint") {
			policy = true
			continue
		}
		break
	}
	switch o.take("v2", "v4") {
	case "v2":
		a.vector = 2
	case "v4":
		a.vector = 4
	}
	a.t = o.typ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64", "bf16", "f16x2", "bf16x2")
	if a.size() > 16 {
		panic(o.failure("vectors of more than 16 bytes are not supported"))
	}
	return a, policy
}

// plainSpace returns the state space without its sub-qualifier: shared::cta is shared
// memory.
func plainSpace(m string) string {
	space, _, _ := strings.Cut(m, "::")
	return space
}

// address resolves a memory operand in a space.
func (o *operation) address(arg *operand, a *access) {
	a.site = o.b.kernel.sites
	o.b.kernel.sites++
	if arg.kind != operandMemory || len(arg.items) != 1 {
		panic(o.failure("an address in brackets is expected"))
	}
	a.offset = uint64(arg.offset)
	item := &arg.items[0]
	if item.kind == operandInteger {
		a.base = o.b.constant(item.bits)
		return
	}
	s := o.b.lookup(item.name)
	switch {
	case item.kind != operandName || s == nil:
		panic(o.failure("address is not a register or a variable"))
	case s.space == "reg":
		if len(s.slots) != 1 || s.typ.class == predicate || s.typ.bits < 32 {
			panic(o.failure("register %s cannot hold an address", item.name))
		}
		if s.typ.bits == 32 && a.space != "shared" && a.space != "local" && a.space != "param" {
			panic(o.failure("an address in this space needs a 64-bit register"))
		}
		a.base = s.slots[0]
	case a.space == "param" && (s.space == "entry" || s.space == "local"):
		a.entry = s.space == "entry"
		a.base = o.addressOf(s, item)
	case s.space == a.space, s.space == "global" && a.space == "":
		a.base = o.addressOf(s, item)
	default:
		panic(o.failure("%s is not in the state space .%s", item.name, a.space))
	}
}

// generic splits a generic address into a space and an offset.
func generic(address uint64) (space string, offset uint64) {
	switch {
	case address-sharedWindow < windowBytes:
		return "shared", address - sharedWindow
	case address-localWindow < windowBytes:
		return "local", address - localWindow
	case address-paramWindow < windowBytes:
		return "param", address - paramWindow
	}
	return "global", address
}

func (w *warp) localSpan(lane int, address uint64, size int) int {
	n := w.block.kernel.local
	if address%uint64(size) != 0 {
		panic(w.accessFault(Misaligned, lane, "local", address, size, "not a multiple of %d", size))
	}
	if address >= uint64(n) || address+uint64(size) > uint64(n) {
		panic(w.accessFault(OutOfBounds, lane, "local", address, size, "the thread has %d bytes", n))
	}
	return lane*n + int(address)
}
