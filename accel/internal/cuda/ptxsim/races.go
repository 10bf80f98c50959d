package ptxsim

import "fmt"

// races finds unordered accesses of global memory by different blocks of a launch, at least
// one of them a write: blocks run in any order, or concurrently. Atomic instructions do not
// race with one another. Those with .acq_rel or .release pass on what the warp has seen to those
// with .acq_rel or .acquire that access the same address later.
type races struct {
	tables   map[*region]*touched
	released map[place]view
}

// place is the address of an atomic variable.
type place struct {
	region *region
	at     int
}

// view is what has happened before: for each block, by 1 + its index, the last epoch of each of its
// warps.
type view map[int32][warpSize]uint64

func (v view) add(other view) {
	for block, epochs := range other {
		mine := v[block]
		for i, e := range epochs {
			mine[i] = max(mine[i], e)
		}
		v[block] = mine
	}
}

// acquired is a view that a warp has got in one of its epochs.
type acquired struct {
	view  view
	warp  int
	epoch uint64
}

// sees reports whether a write of another block happened before, given its record.
func (w *warp) sees(block int32, record uint64) bool {
	for _, a := range w.block.acquired {
		if (a.warp == w.index || a.epoch <= w.seen[a.warp]) && a.view[block][record>>5&31] >= record>>epochShift {
			return true
		}
	}
	return false
}

// synchronize releases and acquires at an atomic variable.
func (w *warp) synchronize(r *region, at int, releases, acquires bool) {
	watch := w.block.run.races
	if watch == nil {
		return
	}
	p := place{r, at}
	if watch.released[p] == nil {
		watch.released[p] = view{}
	}
	before := view{}
	if acquires {
		before.add(watch.released[p])
	}
	if releases {
		v := watch.released[p]
		for _, a := range w.block.acquired {
			if a.warp == w.index || a.epoch <= w.seen[a.warp] {
				v.add(a.view)
			}
		}
		mine := w.seen
		mine[w.index] = w.epoch
		v.add(view{int32(w.block.number) + 1: mine})
	}
	w.orderLanes()
	if acquires {
		w.block.acquired = append(w.block.acquired, acquired{before, w.index, w.epoch})
	}
}

// touched records who accessed each byte of an allocation.
type touched struct {
	writer []int32  // 1 + index of the block; 0 for none, severalBlocks for several
	reader []int32  // likewise
	atomic []bool   // the writes were atomic
	record []uint64 // of the last write; see cell
}

const severalBlocks = -1

func newRaces() *races { return &races{map[*region]*touched{}, map[place]view{}} }

// accessKind is the kind of a memory access.
type accessKind uint8

const (
	reads       accessKind = iota
	readsStrong            // does not race with atomic instructions
	writes
	changes // atomically
)

// touch records an access of global memory, and stops the run if it races.
func (w *warp) touch(lane int, r *region, at, n int, kind accessKind) {
	watch := w.block.run.races
	if watch == nil || r.fixed {
		return
	}
	t := watch.tables[r]
	if t == nil {
		bytes := len(r.data)
		t = &touched{make([]int32, bytes), make([]int32, bytes), make([]bool, bytes), make([]uint64, bytes)}
		watch.tables[r] = t
	}
	me := int32(w.block.number) + 1
	for i := at; i < at+n; i++ {
		other := t.writer[i]
		if other != 0 && other != me && !(t.atomic[i] && (kind == changes || kind == readsStrong)) && !w.sees(other, t.record[i]) {
			who := "other blocks write"
			if other > 0 {
				who = fmt.Sprintf("block %v writes", w.block.of(other))
			}
			panic(w.blocksRace(lane, r.base+uint64(at), n, who))
		}
		switch kind {
		case readsStrong: // not recorded, so a later write does not race with it
			continue
		case reads:
			switch t.reader[i] {
			case 0, me:
				t.reader[i] = me
			default:
				t.reader[i] = severalBlocks
			}
			continue
		}
		if reader := t.reader[i]; reader != 0 && reader != me {
			who := "other blocks read"
			if reader > 0 {
				who = "another block reads"
			}
			panic(w.blocksRace(lane, r.base+uint64(at), n, who))
		}
		t.atomic[i] = kind == changes && (other == 0 || t.atomic[i])
		t.record[i] = w.record(lane)
		if t.writer[i] = me; other != 0 && other != me && t.atomic[i] {
			t.writer[i] = severalBlocks
		}
	}
}

// blocksRace is the fault of a race with another block.
func (w *warp) blocksRace(lane int, address uint64, bytes int, who string) *Fault {
	f := w.accessFault(Race, lane, "global", address, bytes, "%s it in the same launch", who)
	f.Other = w.other(f, func(e event) bool { return e.block != w.block.number })
	return f
}

// of returns the grid coordinates of a block; number is 1 + its index.
func (b *block) of(number int32) [3]int {
	g, i := b.run.launch.Grid, int(number)-1
	return [3]int{i % g.x(), i / g.x() % g.y(), i / (g.x() * g.y())}
}
