package ptxsim

import (
	"encoding/binary"
	"math/bits"
)

func compileSt(o *operation) step {
	a := o.accessAt(0)
	var slots []int
	for _, item := range o.vector(1, a.vector) {
		slots = append(slots, o.sourceOf(&item, a.t, true))
	}
	if a.entry || a.space == "const" {
		panic(o.failure("the state space .%s is read-only", a.space))
	}
	o.memory = &memoryAccess{access: a, write: true}
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

// storeWord returns the step for the stores that kernels use most.
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
