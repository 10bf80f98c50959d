package ptxsim

import (
	"fmt"
	"maps"
	"math/bits"
)

// block is the state of a thread block while it runs. A worker reuses it for one block
// after the other.
type block struct {
	run             *run
	kernel          *Kernel
	memory          *Memory
	params          []byte
	id              [3]int
	number          int64 // linear index in the grid
	threads         int
	warps           []*warp
	variableAddress []uint64 // addresses of Kernel.placed

	spans    []span
	shared   []byte
	cells    []cell
	splits   [][4]cell
	epoch    uint64 // epoch at the start of the block
	fresh    uint64 // records with lower epochs belong to earlier blocks
	barriers map[uint64]*barrierState
	objects  map[uint64]*arrivals // mbarriers by address
	acquired []acquired           // what the block has seen of others, with Launch.Races
	// failedWaits counts consecutive failed tests of mbarriers.
	failedWaits int
}

// barrierState is a barrier at which warps have arrived.
type barrierState struct {
	arrived  int // warps
	expected int // warps, -1 for all warps of the block
	line     int
	pc       int
	waiters  []*warp
	seen     [warpSize]uint64
	votes    int
	all, any bool
}

// timeSlice is the number of instructions that a warp runs before the next warp runs, so
// that a warp that polls for a write of another warp makes progress.
const timeSlice = 4096

func newBlock(r *run) *block {
	k := r.kernel
	b := &block{run: r, kernel: k, memory: r.memory, params: r.launch.Params, threads: r.launch.Block.count(), variableAddress: r.variableAddress}
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
	b.barriers = map[uint64]*barrierState{}
	b.objects = map[uint64]*arrivals{}
	return b
}

// thread returns the coordinates of a thread with a linear index in the block.
func (b *block) thread(n int) [3]int {
	d := b.run.launch.Block
	return [3]int{n % d.x(), n / d.x() % d.y(), n / (d.x() * d.y())}
}

// begin prepares the state for another block of the grid.
func (b *block) begin(id [3]int) {
	b.id = id
	b.epoch++
	if w := b.run.launch.Watch; w != nil {
		maps.DeleteFunc(w.cells, func(at watched, _ *watchedCell) bool { return at.shared })
	}
	for _, w := range b.warps {
		b.epoch = max(b.epoch, w.epoch+1)
	}
	b.fresh = b.epoch << epochShift
	b.splits = b.splits[:0]
	clear(b.barriers)
	clear(b.objects)
	b.acquired = b.acquired[:0]
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
			n := w.run(timeSlice)
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
			b.deadlock()
		}
	}
}

// alive returns the number of warps that have not exited.
func (b *block) alive() int {
	n := 0
	for _, w := range b.warps {
		if w.state != ended {
			n++
		}
	}
	return n
}

// arrive records the arrival of a warp at a barrier. It reports whether the warp must wait.
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
			panic(w.fault(Trapped, first, "barrier for %d threads, which is not a multiple of 32", threads))
		}
		expected = int(threads / warpSize)
	}
	m := b.barriers[id]
	if m == nil {
		m = &barrierState{expected: expected, line: in.line, pc: w.pc, all: true}
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

// release resumes the warps of complete barriers.
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

// deliver stores the result of bar.red for a waiting warp.
func (m *barrierState) deliver(w *warp, in *instruction) {
	switch {
	case in.bar.reduce == "":
	case in.bar.reduce == "popc":
		w.broadcast(in.bar.result, w.live, uint64(m.votes))
	case in.bar.reduce == "and" && m.all, in.bar.reduce == "or" && m.any:
		w.set(in.bar.result, w.live, allLanes)
	default:
		w.set(in.bar.result, w.live, 0)
	}
}

// deadlock stops a block in which every warp waits.
func (b *block) deadlock() {
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
