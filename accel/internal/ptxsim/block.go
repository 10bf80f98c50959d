package ptxsim

import (
	"fmt"
	"math/bits"
)

// block is the state of one thread block while it runs. A worker uses one block
// after the other, in the same memory.
type block struct {
	run     *run
	kernel  *Kernel
	memory  *Memory
	params  []byte
	id      [3]int
	number  int64 // in the order of the grid
	threads int
	warps   []*warp
	placed  []uint64 // addresses of Kernel.placed

	spans    []span
	shared   []byte
	cells    []cell
	splits   [][4]cell
	epoch    uint64 // at which the block began
	fresh    uint64 // records below are of earlier blocks
	barriers map[uint64]*meeting
	objects  map[uint64]*arrivals // mbarriers by address
	// failedWaits is how many tests of mbarriers in a row found nothing.
	failedWaits int
}

// meeting is a barrier at which warps have arrived.
type meeting struct {
	arrived  int // warps
	expected int // warps, -1 for all of the block
	line     int
	pc       int
	waiters  []*warp
	seen     [warpSize]uint64
	votes    int
	all, any bool
}

// slice is how many instructions a warp runs before another has a turn, so
// that one that spins on what another writes does not spin for ever.
const slice = 4096

func newBlock(r *run) *block {
	k := r.kernel
	b := &block{run: r, kernel: k, memory: r.memory, params: r.launch.Params, threads: r.launch.Block.count(), placed: r.placed}
	b.spans = append(b.spans, k.static...)
	end := uint64(k.sharedEnd)
	if r.launch.Shared > 0 {
		start := uint64(k.dynamicStart)
		end = start + uint64(r.launch.Shared)
		b.spans = append([]span{{start, end}}, b.spans...)
	}
	if len(b.spans) > 0 {
		b.shared = make([]byte, roundUp(int(end), 16))
		b.cells = make([]cell, len(b.shared)/4)
	}
	for i := range (b.threads + warpSize - 1) / warpSize {
		w := &warp{block: b, index: i, r: make([]lanes, len(k.start)), p: make([]uint32, k.predicates), sites: make([]*region, k.sites)}
		w.local, w.localWritten = make([]byte, warpSize*k.local), make([]byte, warpSize*k.local)
		b.warps = append(b.warps, w)
	}
	b.barriers = map[uint64]*meeting{}
	b.objects = map[uint64]*arrivals{}
	return b
}

// thread gives the coordinates of a thread by its number in the block.
func (b *block) thread(n int) [3]int {
	d := b.run.launch.Block
	return [3]int{n % d.x(), n / d.x() % d.y(), n / (d.x() * d.y())}
}

// begin prepares the block for another place in the grid.
func (b *block) begin(id [3]int) {
	b.id = id
	b.epoch++
	for _, w := range b.warps {
		b.epoch = max(b.epoch, w.epoch+1)
	}
	b.fresh = b.epoch << epochShift
	b.splits = b.splits[:0]
	clear(b.barriers)
	clear(b.objects)
	b.failedWaits = 0
	for _, w := range b.warps {
		w.epoch = b.epoch
		for i := range w.seen {
			w.seen[i] = b.epoch - 1
		}
		w.start(b.threads)
	}
}

// execute runs the block to its end. It panics with a *Fault.
func (b *block) execute() {
	for {
		progress, left := false, 0
		for _, w := range b.warps {
			if w.state == ended {
				continue
			}
			left++
			if w.state == waiting {
				continue
			}
			progress = true
			n := w.run(slice)
			b.run.spend(w, n)
			if w.state == ended {
				w.async.reset()
				b.release()
			}
		}
		if left == 0 {
			return
		}
		if !progress {
			b.stuck()
		}
	}
}

// alive is how many warps have not ended.
func (b *block) alive() int {
	n := 0
	for _, w := range b.warps {
		if w.state != ended {
			n++
		}
	}
	return n
}

// arrive brings a warp to a barrier. It reports whether the warp's turn is over.
func (w *warp) arrive(in *instruction, active uint32) bool {
	if active != w.live {
		panic(w.fault(DivergentBarrier, bits.TrailingZeros32(w.live&^active), "lanes %#x of the warp reach it, lanes %#x have not ended", active, w.live))
	}
	first := bits.TrailingZeros32(active)
	b := w.block
	id := w.r[in.bar.id][first]
	if id > 15 {
		panic(w.fault(Trapped, first, "barrier %d: there are 16", id))
	}
	expected := -1
	if in.bar.threads >= 0 {
		threads := w.r[in.bar.threads][first]
		if threads == 0 || threads%warpSize != 0 {
			panic(w.fault(Trapped, first, "barrier for %d threads, which is no multiple of 32", threads))
		}
		expected = int(threads / warpSize)
	}
	m := b.barriers[id]
	if m == nil {
		m = &meeting{expected: expected, line: in.line, pc: w.pc, all: true}
		b.barriers[id] = m
	}
	if m.expected != expected || expected < 0 && m.pc != w.pc {
		panic(w.fault(DivergentBarrier, first, "other warps wait at line %d for the same barrier %d", m.line, id))
	}
	m.arrived++
	for i, e := range w.seen {
		m.seen[i] = max(m.seen[i], e)
	}
	m.seen[w.index] = w.epoch
	w.orderLanes()
	if in.bar.reduce != "" {
		votes := w.p[in.bar.value]
		if in.bar.not {
			votes = ^votes
		}
		m.votes += bits.OnesCount32(votes & active)
		m.all = m.all && votes&active == active
		m.any = m.any || votes&active != 0
	}
	if in.bar.arrive {
		w.pc++
	} else {
		w.state = waiting
		m.waiters = append(m.waiters, w)
	}
	b.release()
	return true
}

// release lets the warps of full barriers go on.
func (b *block) release() {
	for id, m := range b.barriers {
		full := m.arrived == m.expected
		if m.expected < 0 {
			full = m.arrived >= b.alive()
		} else if m.arrived > m.expected {
			w := m.waiters[len(m.waiters)-1]
			panic(w.fault(DivergentBarrier, 0, "%d warps arrive at barrier %d, which is for %d", m.arrived, id, m.expected))
		}
		if !full {
			continue
		}
		delete(b.barriers, id)
		for _, w := range m.waiters {
			for i, e := range m.seen {
				w.seen[i] = max(w.seen[i], e)
			}
			w.seen[w.index] = w.epoch - 1
			w.state = ready
			in := &b.kernel.code[w.pc]
			m.deliver(w, in)
			w.pc++
		}
	}
}

// deliver gives a waiting warp the result of bar.red.
func (m *meeting) deliver(w *warp, in *instruction) {
	value := false
	switch in.bar.reduce {
	case "":
		return
	case "popc":
		d := &w.r[in.bar.result]
		for l := w.live; l != 0; l &= l - 1 {
			d[bits.TrailingZeros32(l)] = uint64(m.votes)
		}
		return
	case "and":
		value = m.all
	case "or":
		value = m.any
	}
	if value {
		w.p[in.bar.result] |= w.live
	} else {
		w.p[in.bar.result] &^= w.live
	}
}

// stuck stops a block of which every warp waits.
func (b *block) stuck() {
	detail := "every warp waits:"
	var one *warp
	for _, w := range b.warps {
		if w.state == waiting {
			one = w
			detail += fmt.Sprintf(" warp %d at line %d;", w.index, b.kernel.code[w.pc].line)
		}
	}
	panic(one.fault(DivergentBarrier, bits.TrailingZeros32(one.live), "%s", detail))
}
