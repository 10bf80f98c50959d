package ptxsim

import "math/bits"

// arrivals is an mbarrier: it counts the arrivals of threads and the bytes of asynchronous
// copies. A phase completes when no arrivals and bytes are pending.
type arrivals struct {
	expected int
	pending  int
	bytes    int
	phase    uint64 // number of completed phases
	coming   [warpSize]uint64
	seen     [warpSize]uint64 // epochs that happened before the end of the last phase
	copies   []*bulkCopy      // copies in flight that report here
}

// maxFailedWaits is the number of consecutive failed tests of mbarriers, per warp, after which
// the block counts as deadlocked.
const maxFailedWaits = 10000

// settle completes the phase if nothing is pending.
func (a *arrivals) settle() {
	if a.pending == 0 && a.bytes == 0 {
		a.phase++
		a.pending = a.expected
		a.seen = a.coming
	}
}

// release adds the warp's accesses so far to those before the end of the phase, and starts
// a new epoch, so that later ones do not count.
func (a *arrivals) release(w *warp) {
	for i, e := range w.seen {
		a.coming[i] = max(a.coming[i], e)
	}
	a.coming[w.index] = max(a.coming[w.index], w.epoch)
	w.epoch++
	w.block.failedWaits = 0
}

// compileMbarrier compiles the instructions on mbarriers in shared memory.
func compileMbarrier(o *operation) step {
	name := o.need("init", "inval", "arrive", "expect_tx", "complete_tx", "test_wait", "try_wait")
	expects := name == "arrive" && o.has("expect_tx")
	if name == "arrive" && o.has("noComplete") {
		panic(o.failure("mbarrier.arrive.noComplete is not supported"))
	}
	parity := o.has("parity")
	o.take("relaxed", "acquire", "release")
	o.take("cta", "cluster")
	a := access{space: plainSpace(o.need("shared", "shared::cta", "shared::cluster"))}
	o.typ("b64")
	word := valueTypes["u32"]
	switch name {
	case "init":
		o.end(2)
		o.address(&o.args[0], &a)
		count := o.source(1, word)
		return func(w *warp, mask uint32) {
			for ; mask != 0; mask &= mask - 1 {
				w.initBarrier(&a, bits.TrailingZeros32(mask), count)
			}
		}
	case "inval":
		o.end(1)
		o.address(&o.args[0], &a)
		return o.onBarrier(&a, func(w *warp, lane int, at uint64, _ *arrivals) { delete(w.block.objects, at) })
	case "expect_tx", "complete_tx":
		o.end(2)
		o.address(&o.args[0], &a)
		n := o.source(1, word)
		return o.onBarrier(&a, func(w *warp, lane int, _ uint64, b *arrivals) {
			if name == "expect_tx" {
				b.bytes += int(uint32(w.r[n][lane]))
				return
			}
			b.bytes -= int(uint32(w.r[n][lane]))
			b.settle()
		})
	case "arrive":
		return o.arriveOperation(&a, expects)
	}
	return o.waitOperation(&a, parity)
}

// onBarrier returns a step that applies a function to each lane's mbarrier.
func (o *operation) onBarrier(a *access, f func(w *warp, lane int, at uint64, b *arrivals)) step {
	acc := *a
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			lane := bits.TrailingZeros32(mask)
			at := w.r[acc.base][lane] + acc.offset
			f(w, lane, at, w.arrivals(lane, at))
		}
	}
}

// initBarrier initializes an mbarrier; it is a write of its eight bytes.
func (w *warp) initBarrier(a *access, lane, count int) {
	at := w.r[a.base][lane] + a.offset
	n := int(uint32(w.r[count][lane]))
	if n == 0 || n >= 1<<20 {
		panic(w.accessFault(Trapped, lane, "shared", at, 8, "an mbarrier for %d arrivals; the count must be 1 to 2^20-1", n))
	}
	w.storeShared(lane, at, []byte{0xb, 0xa, 0x2, 0x2, 0x1, 0xe, 0x2, byte(n)}, 8, false)
	b := &arrivals{expected: n, pending: n}
	w.block.objects[at] = b
}

// arrivals returns the mbarrier at an address. Its init must have happened before.
func (w *warp) arrivals(lane int, at uint64) *arrivals {
	b := w.block.objects[at]
	if b == nil {
		w.sharedSpan(lane, at, 8, 8)
		panic(w.accessFault(Uninitialized, lane, "shared", at, 8, "there is no mbarrier"))
	}
	w.loadShared(lane, at, 8, 8, false)
	return b
}

func (o *operation) arriveOperation(a *access, expects bool) step {
	n := len(o.args)
	o.end(2, 3)
	if expects && n != 3 {
		panic(o.failure("%d operands are not supported", n))
	}
	d := -1
	if o.args[0].kind != operandSink {
		d = o.destination(valueTypes["b64"])
	}
	o.address(&o.args[1], a)
	count := o.b.constant(1)
	if n == 3 {
		count = o.source(2, valueTypes["u32"])
	}
	return o.onBarrier(a, func(w *warp, lane int, at uint64, b *arrivals) {
		arriving := int(uint32(w.r[count][lane]))
		if d >= 0 {
			w.r[d][lane] = b.phase
		}
		if expects {
			b.bytes += arriving
			arriving = 1
		}
		b.arrive(w, lane, at, arriving)
	})
}

func (b *arrivals) arrive(w *warp, lane int, at uint64, n int) {
	if b.pending -= n; b.pending < 0 {
		panic(w.accessFault(Trapped, lane, "shared", at, 8, "more arrivals than the %d that the mbarrier is for", b.expected))
	}
	b.release(w)
	b.settle()
}

func (o *operation) waitOperation(a *access, parity bool) step {
	o.end(3, 4)
	p := o.predicateDestination(&o.args[0])
	o.address(&o.args[1], a)
	t := valueTypes["b64"]
	if parity {
		t = valueTypes["u32"]
	}
	phase := o.source(2, t)
	if len(o.args) == 4 {
		o.source(3, valueTypes["u32"]) // the time limit
	}
	test := o.onBarrier(a, func(w *warp, lane int, at uint64, b *arrivals) {
		ended := b.phase != w.r[phase][lane]
		if parity {
			ended = b.phase&1 != w.r[phase][lane]&1
		}
		w.p[p] &^= 1 << lane
		if ended {
			w.p[p] |= 1 << lane
			for i, e := range b.seen {
				w.seen[i] = max(w.seen[i], e)
			}
			w.block.failedWaits = 0
			return
		}
		w.budget = 0 // let another warp run
		if w.block.failedWaits++; w.block.failedWaits > maxFailedWaits*len(w.block.warps) {
			panic(w.accessFault(DivergentBarrier, lane, "shared", at, 8,
				"every warp waits for an mbarrier: this one lacks %d arrivals and %d bytes", b.pending, b.bytes))
		}
	})
	if test == nil {
		return nil
	}
	acc := *a
	return func(w *warp, mask uint32) {
		test(w, mask)
		// Copies in flight arrive now, too late for this test.
		for left := mask &^ w.p[p]; left != 0; left &= left - 1 {
			lane := bits.TrailingZeros32(left)
			w.land(w.block.objects[w.r[acc.base][lane]+acc.offset])
		}
	}
}
