package ptxsim

import "fmt"

// races finds accesses of global memory by different blocks of a launch, one of them
// writing, which nothing orders: blocks run in any order, or at once. Atomic
// instructions do not race with one another. What blocks might tell each other by
// them orders nothing here.
type races struct {
	tables map[*region]*touched
}

// touched is who did what with each byte of an allocation.
type touched struct {
	writer []int32 // number of the block, from 1; 0 for none, severalBlocks where there are more
	reader []int32 // likewise
	atomic []bool  // the writes were atomic
}

const severalBlocks = -1

func newRaces() *races { return &races{map[*region]*touched{}} }

// accessKind is what an instruction does with memory.
type accessKind uint8

const (
	reads       accessKind = iota
	readsStrong            // does not race with atomic instructions
	writes
	changes // atomically
)

// touch notes an access of global memory, and stops one that races.
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
		case readsStrong: // of which a later write is not told
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

// of is the place in the grid of the block with a number, from 1.
func (b *block) of(number int32) [3]int {
	g, i := b.run.launch.Grid, int(number)-1
	return [3]int{i % g.x(), i / g.x() % g.y(), i / (g.x() * g.y())}
}
