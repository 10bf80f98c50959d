package ptxsim

import (
	"math/bits"
	"strconv"
	"strings"
)

// bulkCopy is a copy in flight, of a box of a tensor to shared memory. It arrives as late
// as possible: when a thread tests its mbarrier.
type bulkCopy struct {
	record uint64 // access record of the thread that started it
	warp   int
	epoch  uint64
	chunks []chunk
	bytes  int
}

// chunk is 16 bytes of a copy.
type chunk struct {
	at   int
	data [16]byte
}

// compileBulk compiles cp.async.bulk.tensor from global to shared memory.
func (o *operation) compileBulk() step {
	o.need("tensor")
	dimensions := 0
	if word := o.take("1d", "2d", "3d", "4d", "5d"); word != "" {
		dimensions, _ = strconv.Atoi(strings.TrimSuffix(word, "d"))
	} else {
		panic(o.failure("the number of dimensions is missing"))
	}
	o.need("shared::cluster", "shared::cta")
	o.need("global")
	o.has("tile")
	o.need("mbarrier::complete_tx::bytes")
	n := 3
	if o.has("L2::cache_hint") {
		n++
	}
	o.end(n)
	to, barrier := access{space: "shared"}, access{space: "shared"}
	o.address(&o.args[0], &to)
	o.address(&o.args[2], &barrier)
	source := &o.args[1]
	if source.kind != operandMemory || len(source.items) != 2 || source.items[1].kind != operandVector || len(source.items[1].items) != dimensions {
		panic(o.failure("a tensor map and %d coordinates in brackets are expected", dimensions))
	}
	var from access
	o.address(&operand{kind: operandMemory, items: source.items[:1], offset: source.offset}, &from)
	var coordinates []int
	for i := range source.items[1].items {
		coordinates = append(coordinates, o.sourceOf(&source.items[1].items[i], valueTypes["s32"], false))
	}
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			lane := bits.TrailingZeros32(mask)
			t := w.tensorMap(&from, lane)
			if len(t.Shape) != dimensions {
				panic(w.fault(Trapped, lane, "the tensor map has %d dimensions", len(t.Shape)))
			}
			at := make([]int64, dimensions)
			for i, slot := range coordinates {
				at[i] = int64(int32(w.r[slot][lane]))
			}
			where := w.r[barrier.base][lane] + barrier.offset
			b := w.arrivals(lane, where)
			w.proxied(where, 8)
			w.startBulk(lane, &t, at, w.r[to.base][lane]+to.offset, b, from.site)
		}
	}
}

// tensorMap reads the map at a generic address: a parameter or global memory.
func (w *warp) tensorMap(a *access, lane int) TensorMap {
	address := w.r[a.base][lane] + a.offset
	if address%64 != 0 {
		panic(w.accessFault(Misaligned, lane, "param", address, tensorMapBytes, "not a multiple of 64"))
	}
	var b []byte
	switch space, offset := generic(address); space {
	case "param":
		at := offset - entryBase
		if at >= uint64(len(w.block.params)) {
			panic(w.accessFault(OutOfBounds, lane, "param", offset, tensorMapBytes, "the kernel has %d bytes of parameters", len(w.block.params)))
		}
		b = w.block.params[at:]
	case "global":
		r, at := w.global(lane, offset, tensorMapBytes, 64, &w.sites[a.site])
		w.unwritten(lane, r, at, tensorMapBytes)
		b = r.data[at:]
	}
	t, ok := decodeTensorMap(b)
	if !ok {
		panic(w.accessFault(Trapped, lane, "param", address, tensorMapBytes, "there is no tensor map"))
	}
	return t
}

// showProxy is a fence that makes the warp's writes to shared memory and mbarriers visible
// to the asynchronous proxy: later wgmma and bulk copies.
func (w *warp) showProxy() {
	w.shown = w.epoch
	w.epoch++
}

// proxied faults if the asynchronous proxy reads shared memory that ordinary instructions
// wrote, unless their thread executed a fence.
func (w *warp) proxied(at uint64, size int) {
	b := w.block
	for i := int(at) >> 2; i < (int(at)+size)>>2; i++ {
		last := b.cells[i].write
		if last < b.fresh || last&(flagMany|flagSplit) != 0 {
			continue
		}
		if writer := b.warps[last>>5&31]; last>>epochShift > writer.shown {
			panic(w.accessFault(Race, 0, "shared", at, size, "no fence.proxy.async since thread %v wrote it", b.thread(int(last&threadBits))))
		}
	}
}

// startBulk reads the box and leaves it in flight.
func (w *warp) startBulk(lane int, t *TensorMap, at []int64, to uint64, b *arrivals, site int) {
	size := t.bytes()
	w.sharedSpan(lane, to, size, 128)
	c := &bulkCopy{record: w.record(lane) | flagMany, warp: w.index, epoch: w.epoch, bytes: size}
	row := int(t.Box[0]) * t.Element
	index := make([]uint32, len(at)) // of the start of the row in the box
	for offset := 0; offset < size; offset += row {
		data := w.bulkRow(lane, t, at, index, site)
		for i := 0; i < row; i += 16 {
			where := int(swizzled(to+uint64(offset+i), t.Swizzle))
			w.sharedSpan(lane, uint64(where), 16, 16)
			p := chunk{at: where}
			copy(p.data[:], data[i:])
			w.claimInFlight(lane, where, p.data[:])
			c.chunks = append(c.chunks, p)
		}
		for d := 1; d < len(index); d++ {
			if index[d]++; index[d] < t.Box[d] {
				break
			}
			index[d] = 0
		}
	}
	b.copies = append(b.copies, c)
	w.epoch++ // later accesses of the thread are not part of the copy
}

// bulkRow reads the innermost elements of a box. Elements out of bounds are zero or NaN.
func (w *warp) bulkRow(lane int, t *TensorMap, at []int64, index []uint32, site int) []byte {
	data := make([]byte, int(t.Box[0])*t.Element)
	address, outside := t.Address, false
	for d := 1; d < len(at); d++ {
		c := at[d] + int64(index[d]*t.Steps[d])
		if c < 0 || c >= int64(t.Shape[d]) {
			outside = true
			break
		}
		address += uint64(c) * t.Strides[d-1]
	}
	for i := range int(t.Box[0]) {
		c := at[0] + int64(i)*int64(t.Steps[0])
		into := data[i*t.Element:][:t.Element]
		if outside || c < 0 || c >= int64(t.Shape[0]) {
			if t.NaNFill {
				mark(into, 0xff)
			}
			continue
		}
		r, from := w.global(lane, address+uint64(c)*uint64(t.Element), t.Element, t.Element, &w.sites[site])
		w.unwritten(lane, r, from, t.Element)
		w.touch(lane, r, from, t.Element, reads)
		copy(into, r.data[from:])
	}
	return data
}

// land writes the copies that report to an mbarrier to shared memory.
func (w *warp) land(b *arrivals) {
	if len(b.copies) == 0 {
		return
	}
	for _, c := range b.copies {
		for i := range c.chunks {
			p := &c.chunks[i]
			w.block.arrived(p.at, p.data[:], c.record)
		}
		b.coming[c.warp] = max(b.coming[c.warp], c.epoch)
		b.bytes -= c.bytes
	}
	b.copies = nil
	w.block.failedWaits = 0
	b.settle()
}

// arrived marks bytes in shared memory as arrived.
func (b *block) arrived(at int, data []byte, record uint64) {
	copy(b.shared[at:], data)
	for i := at; i < at+len(data); i += 4 {
		c := &b.cells[i>>2]
		if c.write&flagSplit != 0 && c.write >= b.fresh {
			for j := range 4 {
				b.split(c)[j].write = record
			}
			continue
		}
		c.write = record
	}
}
