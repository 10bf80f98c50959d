package ptxsim

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

var memoryOperations = map[string]func(*operation) step{"ld": compileLd, "ldu": compileLdu, "st": compileSt}

// access is how an instruction reaches memory.
type access struct {
	space  string // empty for generic addresses
	base   int    // register
	offset uint64
	entry  bool // a parameter of the entry
	strong bool // ordered with atomic instructions
	vector int
	t      valueType
	site   int
}

func (a *access) size() int { return a.vector * a.t.bytes() }

// Modifiers that say how to cache, which changes no result.
var cacheHints = []string{"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
	"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
	"L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"}

// access reads the modifiers of ld and st up to and with the type; policy says
// whether an operand with a cache policy follows.
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
				o.fail("two state spaces")
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
		o.fail("vectors of more than 16 bytes are not supported")
	}
	return a, policy
}

// plainSpace is the state space without its sub-qualifier: shared::cta is
// shared memory.
func plainSpace(m string) string {
	space, _, _ := strings.Cut(m, "::")
	return space
}

// address resolves a memory operand in a space.
func (o *operation) address(arg *operand, a *access) {
	a.site = o.b.kernel.sites
	o.b.kernel.sites++
	if arg.kind != operandMemory || len(arg.items) != 1 {
		o.fail("address in brackets expected")
		return
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
		o.fail("address is not a register or a variable")
	case s.space == "reg":
		if len(s.slots) != 1 || s.typ.class == predicate || s.typ.bits < 32 {
			o.fail("%s does not hold an address", item.name)
			return
		}
		if s.typ.bits == 32 && a.space != "shared" && a.space != "local" && a.space != "param" {
			o.fail("address in a register of 32 bits")
		}
		a.base = s.slots[0]
	case a.space == "param" && (s.space == "entry" || s.space == "local"):
		a.entry = s.space == "entry"
		a.base = o.addressOf(s, item)
	case s.space == a.space, s.space == "global" && a.space == "":
		a.base = o.addressOf(s, item)
	default:
		o.fail("%s is not in space .%s", item.name, a.space)
	}
}

func compileLdu(o *operation) step { return compileLd(o) }

func compileLd(o *operation) step {
	a, policy := o.access()
	n := 2
	if policy {
		n = 3
	}
	if !o.end(n) {
		return nil
	}
	o.address(&o.args[1], &a)
	if policy {
		o.source(2, valueTypes["b64"])
	}
	var slots, widths []int
	for _, item := range o.vector(0, a.vector) {
		slot, width := o.destinationOf(&item, a.t, true)
		slots, widths = append(slots, slot), append(widths, width)
	}
	if o.err != nil {
		return nil
	}
	if a.entry {
		return a.loadParam(slots, widths)
	}
	general := a.load(slots, widths)
	if a.vector == 1 && a.space == "global" && !a.strong && (a.t.bits == 32 && widths[0] == 32 || a.t.bits == 64) {
		return a.loadWord(slots[0], general)
	}
	if a.space == "shared" && !a.strong && a.t.bits == 32 && widths[0] == 32 {
		return a.loadSharedWords(slots, general)
	}
	return general
}

// value gives an element as the register of a width has it.
func (a *access) value(b []byte, width int) uint64 {
	v := getBits(b, a.t.bytes())
	if a.t.class == signed && width > a.t.bits {
		v = uint64(extend(v, a.t.bits)) & lowBits(width)
	}
	return v
}

// load makes the step for any space and size.
func (a *access) load(slots, widths []int) step {
	size, n := a.size(), a.t.bytes()
	acc := *a
	return func(w *warp, mask uint32) {
		base := w.r[acc.base]
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			b := w.readable(&acc, i, base[i]+acc.offset, size)
			for j, slot := range slots {
				w.r[slot][i] = acc.value(b[j*n:], widths[j])
			}
		}
	}
}

// loadWord makes the step for what kernels load most.
func (a *access) loadWord(d int, general step) step {
	base, offset, site, size := a.base, a.offset, a.site, uint64(a.t.bytes())
	if size == 8 {
		return func(w *warp, mask uint32) {
			r := w.sites[site]
			if r == nil || w.block.run.races != nil {
				general(w, mask)
				return
			}
			a, d := &w.r[base], &w.r[d]
			for m := mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				at := a[i] + offset - r.base
				if at&7 != 0 || at+8 > uint64(len(r.data)) || at >= uint64(len(r.data)) || binary.LittleEndian.Uint64(r.written[at:]) != 0x0101010101010101 {
					general(w, m)
					return
				}
				d[i] = binary.LittleEndian.Uint64(r.data[at:])
			}
		}
	}
	return func(w *warp, mask uint32) {
		r := w.sites[site]
		if r == nil || w.block.run.races != nil {
			general(w, mask)
			return
		}
		a, d := &w.r[base], &w.r[d]
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			at := a[i] + offset - r.base
			if at&3 != 0 || at+4 > uint64(len(r.data)) || at >= uint64(len(r.data)) || binary.LittleEndian.Uint32(r.written[at:]) != 0x01010101 {
				general(w, m)
				return
			}
			d[i] = uint64(binary.LittleEndian.Uint32(r.data[at:]))
		}
	}
}

// loadSharedWords makes the step for words of shared memory, which is that of
// load but for the order of its checks.
func (a *access) loadSharedWords(slots []int, general step) step {
	base, offset, size := a.base, a.offset, uint64(4*a.vector)
	return func(w *warp, mask uint32) {
		b := w.block
		if len(b.spans) == 0 {
			general(w, mask)
			return
		}
		span := b.spans[0]
		address := w.r[base]
		one := mask == allLanes && same(&address)
		if one { // all lanes read the same: one check serves
			mask = 1
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			at := address[i] + offset
			if at&(size-1) != 0 || at < span.from || at+size > span.to || !w.readWords(at, int(size/4), i, one) {
				if one {
					m, one = allLanes, false
				}
				general(w, m)
				break
			}
			for j, slot := range slots {
				w.r[slot][i] = uint64(binary.LittleEndian.Uint32(b.shared[at+4*uint64(j):]))
			}
		}
		if one {
			for _, slot := range slots {
				fill(&w.r[slot], w.r[slot][0])
			}
		}
	}
}

func same(l *lanes) bool {
	first := l[0]
	if l[31] != first || l[16] != first {
		return false
	}
	for _, v := range l {
		if v != first {
			return false
		}
	}
	return true
}

// loadParam makes the step that reads the launch's parameters.
func (a *access) loadParam(slots, widths []int) step {
	size, n := a.size(), a.t.bytes()
	acc := *a
	return func(w *warp, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			b := w.parameter(i, w.r[acc.base][i]+acc.offset, size)
			for j, slot := range slots {
				w.r[slot][i] = acc.value(b[j*n:], widths[j])
			}
		}
	}
}

func (w *warp) parameter(lane int, address uint64, size int) []byte {
	p := w.block.params
	address -= entryBase
	if address%uint64(size) != 0 {
		panic(w.accessFault(Misaligned, lane, "param", address, size, "not a multiple of %d", size))
	}
	if address >= uint64(len(p)) || address+uint64(size) > uint64(len(p)) {
		panic(w.accessFault(OutOfBounds, lane, "param", address, size, "the kernel has %d bytes of parameters", len(p)))
	}
	return p[address : address+uint64(size)]
}

// readable gives the bytes that a lane reads, after all checks.
func (w *warp) readable(a *access, lane int, address uint64, size int) []byte {
	space := a.space
	if space == "" {
		space, address = generic(address)
	}
	switch space {
	case "shared":
		return w.loadShared(lane, address, size, size, a.strong)
	case "local", "param":
		if space == "param" && address >= entryBase {
			return w.parameter(lane, address, size)
		}
		at := w.localSpan(lane, address, size)
		if i := slices.Index(w.localWritten[at:at+size], 0); i >= 0 {
			panic(w.accessFault(Uninitialised, lane, "local", address, size, "byte %d was never written", i))
		}
		return w.local[at : at+size]
	}
	r, at := w.global(lane, address, size, size, &w.sites[a.site])
	if a.strong && size <= 8 {
		w.touch(lane, r, at, size, readsStrong)
		if loadAtomic(r.written, at, size) != 0x0101010101010101&lowBits(8*size) {
			w.unwritten(lane, r, at, size)
		}
		return binary.LittleEndian.AppendUint64(nil, loadAtomic(r.data, at, size))[:size]
	}
	w.touch(lane, r, at, size, reads)
	w.unwritten(lane, r, at, size)
	return r.data[at : at+size]
}

// generic splits a generic address.
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

func compileSt(o *operation) step {
	a, policy := o.access()
	n := 2
	if policy {
		n = 3
	}
	if !o.end(n) {
		return nil
	}
	o.address(&o.args[0], &a)
	if policy {
		o.source(2, valueTypes["b64"])
	}
	var slots []int
	for _, item := range o.vector(1, a.vector) {
		slots = append(slots, o.sourceOf(&item, a.t, true))
	}
	if a.entry || a.space == "const" {
		o.fail("space .%s cannot be written", a.space)
	}
	if o.err != nil {
		return nil
	}
	general := a.store(slots)
	if a.vector == 1 && a.space == "global" && !a.strong && a.t.bits == 32 {
		return a.storeWord(slots[0], general)
	}
	return general
}

func (a *access) store(slots []int) step {
	size, n := a.size(), a.t.bytes()
	acc := *a
	return func(w *warp, mask uint32) {
		base := w.r[acc.base]
		var b [16]byte
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			for j, slot := range slots {
				putBits(b[j*n:], w.r[slot][i], n)
			}
			w.write(&acc, i, base[i]+acc.offset, b[:size])
		}
	}
}

// storeWord makes the step for what kernels store most.
func (a *access) storeWord(v int, general step) step {
	base, offset, site := a.base, a.offset, a.site
	return func(w *warp, mask uint32) {
		r := w.sites[site]
		if r == nil || r.fixed || w.block.run.races != nil {
			general(w, mask)
			return
		}
		a, v := &w.r[base], &w.r[v]
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			at := a[i] + offset - r.base
			if at&3 != 0 || at+4 > uint64(len(r.data)) || at >= uint64(len(r.data)) {
				general(w, m)
				return
			}
			binary.LittleEndian.PutUint32(r.data[at:], uint32(v[i]))
			binary.LittleEndian.PutUint32(r.written[at:], 0x01010101)
		}
	}
}

// write stores a lane's bytes, after all checks.
func (w *warp) write(a *access, lane int, address uint64, value []byte) {
	space, size := a.space, len(value)
	if space == "" {
		space, address = generic(address)
	}
	switch space {
	case "shared":
		w.storeShared(lane, address, value, size, a.strong)
		return
	case "local", "param":
		if space == "param" && address >= entryBase {
			panic(w.accessFault(OutOfBounds, lane, "param", address, size, "parameters cannot be written"))
		}
		at := w.localSpan(lane, address, size)
		copy(w.local[at:], value)
		mark(w.localWritten[at:at+size], 1)
		return
	}
	r, at := w.global(lane, address, size, size, &w.sites[a.site])
	if r.fixed {
		panic(w.accessFault(OutOfBounds, lane, "const", address, size, "constant memory cannot be written"))
	}
	if a.strong && size <= 8 {
		w.touch(lane, r, at, size, changes)
		changeAtomic(r.written, at, size, func(uint64) uint64 { return 0x0101010101010101 & lowBits(8*size) })
		changeAtomic(r.data, at, size, func(uint64) uint64 { return getBits(value, size) })
		return
	}
	w.touch(lane, r, at, size, writes)
	mark(r.written[at:at+size], 1)
	copy(r.data[at:], value)
}
