package ptxsim

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

func compileLdu(o *operation) step { return compileLd(o) }

func compileLd(o *operation) step {
	a := o.accessAt(1)
	var slots, widths []int
	for _, item := range o.vector(0, a.vector) {
		slot, width := o.destinationOf(&item, a.t, true)
		slots, widths = append(slots, slot), append(widths, width)
	}
	o.memory = &memoryAccess{access: a}
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

// value extends an element to the width of its register.
func (a *access) value(b []byte, width int) uint64 {
	v := getBits(b, a.t.bytes())
	if a.t.class == signed && width > a.t.bits {
		v = uint64(extend(v, a.t.bits)) & lowBits(width)
	}
	return v
}

// load returns the step for any space and size.
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

// loadWord returns the step for the loads that kernels use most.
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
			panic(w.accessFault(Uninitialized, lane, "local", address, size, "byte %d was never written", i))
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
