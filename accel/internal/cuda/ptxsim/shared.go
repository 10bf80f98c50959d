package ptxsim

import "bytes"

// span is a range of offsets in a block's shared memory.
type span struct{ from, to uint64 }

// Races for shared memory are detected per word of four bytes: each word has a record of
// its last write and of up to two reads by different warps. A record is
//
//	epoch<<16 | flags | thread
//
// The epoch is that of the thread's warp; each barrier increments it. An access is ordered
// after a record if the warp has seen the record's epoch of the other warp. A warp has
// always seen its own earlier epochs, so bar.warp.sync orders the lanes of a warp. Epochs
// keep increasing from block to block: records of earlier blocks count as absent.
type cell struct{ write, read, other uint64 }

const (
	epochShift   = 16
	threadBits   = 1<<10 - 1
	flagAtomic   = 1 << 15 // write by an atomic instruction or a strong store
	flagSplit    = 1 << 14 // each byte has its own cell; read is the index of the cells
	flagInFlight = 1 << 13 // a cp.async will write it
	flagMany     = 1 << 12 // read by several lanes of the warp, or written by a bulk copy instead of its thread
)

func (w *warp) record(lane int) uint64 {
	return w.epoch<<epochShift | uint64(32*w.index+lane)
}

// ordered reports whether the recorded access happened before, or is the thread's own.
func (w *warp) ordered(record uint64, lane int) bool {
	if record>>epochShift <= w.seen[record>>5&31] {
		return true
	}
	return record&threadBits == uint64(32*w.index+lane) && record&flagMany == 0
}

// orderLanes orders the lanes' accesses so far before their later ones.
func (w *warp) orderLanes() {
	w.seen[w.index] = w.epoch
	w.epoch++
}

// sharedSpan checks an access of shared memory and returns its offset.
func (w *warp) sharedSpan(lane int, address uint64, size, align int) int {
	if address&uint64(align-1) != 0 {
		panic(w.accessFault(Misaligned, lane, "shared", address, size, "not a multiple of %d", align))
	}
	for _, s := range w.block.spans {
		if address >= s.from && address+uint64(size) <= s.to {
			return int(address)
		}
	}
	detail := "the kernel has no shared memory"
	for _, s := range w.block.spans {
		if detail = "outside of every shared variable"; address >= s.from && address < s.to+sharedGap {
			panic(w.accessFault(OutOfBounds, lane, "shared", address, size, "offset %d of a shared variable of %d bytes", address-s.from, s.to-s.from))
		}
	}
	panic(w.accessFault(OutOfBounds, lane, "shared", address, size, "%s", detail))
}

// loadShared returns the bytes that a lane reads. Strong reads do not race with atomic
// writes.
func (w *warp) loadShared(lane int, address uint64, size, align int, strong bool) []byte {
	at := w.sharedSpan(lane, address, size, align)
	b := w.block
	for i := at; i < at+size; {
		c := &b.cells[i>>2]
		if i&3 == 0 && at+size-i >= 4 && (c.write&flagSplit == 0 || c.write < b.fresh) {
			w.readCell(c, lane, address, size, strong)
			i += 4
			continue
		}
		w.readCell(&b.split(c)[i&3], lane, address, size, strong)
		i++
	}
	return b.shared[at : at+size]
}

// readWords is readCell for the common case, for several words. It returns false if more
// checks are needed. many means that all lanes read.
func (w *warp) readWords(at uint64, words, lane int, many bool) bool {
	b := w.block
	me := w.record(lane)
	cells := b.cells[at>>2:][:words]
	for i := range cells {
		c := &cells[i]
		last := c.write
		if last < b.fresh || last&(flagSplit|flagInFlight) != 0 || last>>epochShift > w.seen[last>>5&31] && (many || last&flagMany != 0 || last&threadBits != me&threadBits) {
			return false
		}
		switch {
		case (c.read^me)&^(31|flagMany) == 0:
			if c.read&31 != me&31 {
				c.read |= flagMany
			}
		case c.read>>epochShift <= w.seen[c.read>>5&31]:
			c.read = me
		default:
			w.noteRead(c, me)
		}
		if many {
			if c.read>>5&31 == uint64(w.index) {
				c.read |= flagMany
			} else {
				c.other |= flagMany
			}
		}
	}
	return true
}

func (w *warp) readCell(c *cell, lane int, address uint64, size int, strong bool) {
	last := c.write
	if last < w.block.fresh {
		panic(w.accessFault(Uninitialized, lane, "shared", address, size, "no thread of the block has written it"))
	}
	if last&flagInFlight != 0 {
		panic(w.raceFault(last, lane, address, size, isCopying))
	}
	if !w.ordered(last, lane) && !(strong && last&flagAtomic != 0) {
		panic(w.raceFault(last, lane, address, size, hasWritten))
	}
	w.noteRead(c, w.record(lane))
}

// noteRead records a read.
func (w *warp) noteRead(c *cell, me uint64) {
	switch {
	case c.read>>5&31 == uint64(w.index):
		c.read = joinReads(c.read, me)
	case c.read>>epochShift <= w.seen[c.read>>5&31]:
		c.read = me
	case c.other>>5&31 == uint64(w.index):
		c.other = joinReads(c.other, me)
	default:
		c.other = me
	}
}

// joinReads returns the record of two reads by one warp.
func joinReads(before, now uint64) uint64 {
	if before>>epochShift != now>>epochShift {
		return now
	}
	if (before^now)&threadBits != 0 {
		return before | flagMany
	}
	return before
}

// storeShared writes a lane's bytes.
func (w *warp) storeShared(lane int, address uint64, value []byte, align int, strong bool) {
	at := w.sharedSpan(lane, address, len(value), align)
	w.claim(lane, at, value, strong)
	copy(w.block.shared[at:], value)
}

// claim records a write. Two threads may write the same value, because the order then does
// not matter.
func (w *warp) claim(lane, at int, value []byte, strong bool) {
	b := w.block
	var flag uint64
	if strong {
		flag = flagAtomic
	}
	for i := at; i < at+len(value); {
		c := &b.cells[i>>2]
		old := b.shared[i:min(i+4, at+len(value))]
		if i&3 == 0 && len(old) == 4 && (c.write&flagSplit == 0 || c.write < b.fresh) {
			w.writeCell(c, lane, at, len(value), flag, bytes.Equal(old, value[i-at:i-at+4]))
			i += 4
			continue
		}
		w.writeCell(&b.split(c)[i&3], lane, at, len(value), flag, b.shared[i] == value[i-at])
		i++
	}
}

func (w *warp) writeCell(c *cell, lane, at, size int, flag uint64, same bool) {
	if last := c.write; last >= w.block.fresh {
		if last&flagInFlight != 0 {
			panic(w.raceFault(last, lane, uint64(at), size, isCopying))
		}
		if !w.ordered(last, lane) && !same && last&flag&flagAtomic == 0 {
			panic(w.raceFault(last, lane, uint64(at), size, hasWritten))
		}
	}
	for _, read := range [2]uint64{c.read, c.other} {
		if read >= w.block.fresh && !w.ordered(read, lane) {
			panic(w.raceFault(read, lane, uint64(at), size, hasRead))
		}
	}
	c.write = w.record(lane) | flag
}

// split returns the cells of a word's bytes.
func (b *block) split(c *cell) *[4]cell {
	if c.write&flagSplit == 0 || c.write < b.fresh {
		b.splits = append(b.splits, [4]cell{*c, *c, *c, *c})
		c.write, c.read = b.fresh|flagSplit, uint64(len(b.splits)-1)
	}
	return &b.splits[c.read]
}

// atomicShared checks a read and write of an atomic instruction. The returned bytes may be
// changed in place.
func (w *warp) atomicShared(lane int, address uint64, size int) []byte {
	at := w.sharedSpan(lane, address, size, size)
	b := w.block
	each := func(c *cell) {
		if c.write < b.fresh {
			panic(w.accessFault(Uninitialized, lane, "shared", address, size, "no thread of the block has written it"))
		}
		w.writeCell(c, lane, at, size, flagAtomic, false)
	}
	for i := at; i < at+size; {
		c := &b.cells[i>>2]
		if i&3 == 0 && size >= 4 && (c.write&flagSplit == 0 || c.write < b.fresh) {
			each(c)
			i += 4
			continue
		}
		each(&b.split(c)[i&3])
		i++
	}
	return b.shared[at : at+size]
}
