package ptxsim

import "fmt"

// races finds unordered accesses of global memory by different blocks of a launch, at least
// one of them a write: blocks run in any order, or concurrently. Atomic instructions do not
// race with one another. Synchronization of blocks by atomic instructions is not
// recognized.
type races struct {
	tables map[*region]*touched
}

// touched records who accessed each byte of an allocation.
type touched struct {
	writer []int32 // 1 + index of the block; 0 for none, severalBlocks for several
	reader []int32 // likewise
	atomic []bool  // the writes were atomic
}

const severalBlocks = -1

func newRaces() *races { return &races{map[*region]*touched{}} }

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
		t = &touched{make([]int32, bytes), make([]int32, bytes), make([]bool, bytes)}
		watch.tables[r] = t
	}
	me := int32(w.block.number) + 1
	for i := at; i < at+n; i++ {
		other := t.writer[i]
		if other != 0 && other != me && !(t.atomic[i] && (kind == changes || kind == readsStrong)) {
			who := "other blocks write"
			if other > 0 {
				who = fmt.Sprintf("block %v writes", w.block.of(other))
			}
			panic(w.accessFault(Race, lane, "global", r.base+uint64(at), n, "%s it in the same launch", who))
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
			panic(w.accessFault(Race, lane, "global", r.base+uint64(at), n, "%s it in the same launch", who))
		}
		t.atomic[i] = kind == changes && (other == 0 || t.atomic[i])
		if t.writer[i] = me; other != 0 && other != me {
			t.writer[i] = severalBlocks
		}
	}
}

// of returns the grid coordinates of a block; number is 1 + its index.
func (b *block) of(number int32) [3]int {
	g, i := b.run.launch.Grid, int(number)-1
	return [3]int{i % g.x(), i / g.x() % g.y(), i / (g.x() * g.y())}
}
