package ir

import (
	"math"
	"slices"
)

// donate lets an assignment's new value overwrite the old one, if the step that writes it
// is the last to read the old one, element by element.
//
// Nothing is overwritten before a step that may fail, see [Finite].
func (b *builder) donate() {
	watch := -1
	for i, s := range b.program.Steps {
		if _, ok := s.Op.(Finite); ok {
			watch = i
		}
	}
	for _, a := range b.assigns {
		if a.new.index < 0 || a.new.epoch != a.old.epoch {
			continue
		}
		n := b.planner.nodes[a.new.index]
		if !canDonate(a) {
			b.update(a, n)
			continue
		}
		if n.class == View && n.base != nil && n.layout.Contiguous() && n.layout.Offset == 0 {
			n = n.base
		}
		if n.slot < 0 || b.program.Slots[n.slot].Kind != Output || b.planner.roundsApart && n.roundsUpdate() {
			continue
		}
		ext := ^a.old.index
		slot := b.plan.externals[ext]
		at := b.first[n.slot]
		if at < watch {
			continue
		}
		if last, read := b.last[slot]; read && last > at {
			continue
		} else if read && last == at && !elementwiseUse(b.program.Steps[at], slot, n.slot) {
			continue
		}
		taken := false
		for _, r := range b.results { // a view that outlives the list
			taken = taken || r.external == ext
		}
		for _, d := range b.donated {
			taken = taken || d.slot == n.slot || d.external == ext
		}
		if !taken && b.program.Slots[slot].Bytes >= b.program.Slots[n.slot].Bytes {
			b.donated = append(b.donated, donation{n.slot, ext, at})
		}
	}
}

// update notes which fused step computes the new value of an assignment whose old value stays in its own memory.
func (b *builder) update(a assignment, n *planned) {
	old := a.old
	if n.slot < 0 || b.program.Slots[n.slot].Kind != Output || old.dtype != n.store || !sameShape(old.shape, n.node.shape) ||
		!old.layout.Contiguous() || old.layout.Offset != 0 || !n.layout.Contiguous() || n.layout.Offset != 0 {
		return
	}
	if s := &b.program.Steps[b.first[n.slot]]; s.Op == nil {
		in := Operand{Slot: b.plan.externals[^old.index], DType: n.store, Layout: old.layout}
		s.Updates = append(s.Updates, Update{in, Operand{Slot: n.slot, DType: n.store, Layout: n.layout}})
	}
}

// elementwiseUse reports whether a step reads a slot only at the element of a result that it writes.
func elementwiseUse(s Step, slot, result int) bool {
	if s.Op != nil {
		return false
	}
	for i := range max(1, len(s.Parts)) {
		one := s.Part(i)
		writes := slices.ContainsFunc(one.Out, func(o Operand) bool { return o.Slot == result })
		for _, in := range one.In {
			if in.Slot == slot && (!writes || in.Offset != 0 || !in.Contiguous() || !sameShape(in.Shape, one.Shape)) {
				return false
			}
		}
	}
	return true
}

// align is the alignment of temporaries, a cache line.
const align = 64

// placeArena gives each temporary an offset in the arena at which nothing else is while it is
// live.
func (b *builder) placeArena() {
	var slots []int // in the order in which they are written
	for i, s := range b.program.Slots {
		if s.Kind == Arena {
			slots = append(slots, i)
		}
	}
	slices.SortStableFunc(slots, func(i, j int) int { return b.first[i] - b.first[j] })
	b.placeInOrder(slots)
	const few = 2048
	if len(slots) > few || b.program.Arena <= b.live()+b.live()/32 {
		return
	}
	before, offsets := b.program.Arena, make([]int, len(slots))
	for k, i := range slots {
		offsets[k] = b.program.Slots[i].Offset
	}
	if b.placeBySize(slices.Clone(slots)); b.program.Arena < before {
		return
	}
	b.program.Arena = before
	for k, i := range slots {
		b.program.Slots[i].Offset = offsets[k]
	}
}

// live returns the most bytes of temporaries that are live in a step, which is the least that the
// arena can have.
func (b *builder) live() (most int) {
	change := make([]int, len(b.program.Steps)+1)
	for i, s := range b.program.Slots {
		if s.Kind == Arena {
			change[b.first[i]] += roundUp(s.Bytes)
			change[b.last[i]+1] -= roundUp(s.Bytes)
		}
	}
	now := 0
	for _, c := range change {
		now += c
		most = max(most, now)
	}
	return most
}

// placeInOrder gives each temporary the smallest gap in which it fits, in the order of the steps.
// The time is that of sorting.
func (b *builder) placeInOrder(slots []int) {
	end := make([][]int, len(b.program.Steps)) // slots by the last step that reads them
	free := gaps{{0, math.MaxInt}}
	for k := range b.program.Steps {
		for ; len(slots) > 0 && b.first[slots[0]] == k; slots = slots[1:] {
			i := slots[0]
			s := &b.program.Slots[i]
			s.Offset = free.take(roundUp(s.Bytes))
			b.program.Arena = max(b.program.Arena, s.Offset+roundUp(s.Bytes))
			end[b.last[i]] = append(end[b.last[i]], i)
		}
		for _, i := range end[k] {
			s := b.program.Slots[i]
			free.give(gap{s.Offset, s.Offset + roundUp(s.Bytes)})
		}
	}
}

// placeBySize gives each temporary the lowest offset at which it fits, the largest first, and of equal ones that
// which is live for the most steps. So smaller gaps are left. It takes quadratic time.
func (b *builder) placeBySize(slots []int) {
	slices.SortStableFunc(slots, func(i, j int) int {
		if d := b.program.Slots[j].Bytes - b.program.Slots[i].Bytes; d != 0 {
			return d
		}
		return (b.last[j] - b.first[j]) - (b.last[i] - b.first[i])
	})
	b.program.Arena = 0
	var placed []int // by offset
	for _, i := range slots {
		s := &b.program.Slots[i]
		s.Offset = 0
		for _, j := range placed {
			o := b.program.Slots[j]
			if b.first[j] > b.last[i] || b.first[i] > b.last[j] || o.Offset+roundUp(o.Bytes) <= s.Offset {
				continue
			}
			if o.Offset >= s.Offset+roundUp(s.Bytes) {
				break
			}
			s.Offset = o.Offset + roundUp(o.Bytes)
		}
		b.program.Arena = max(b.program.Arena, s.Offset+roundUp(s.Bytes))
		at, _ := slices.BinarySearchFunc(placed, s.Offset, func(j, offset int) int { return b.program.Slots[j].Offset - offset })
		placed = slices.Insert(placed, at, i)
	}
}

func roundUp(bytes int) int { return (bytes + align - 1) / align * align }

// gap is a range of free bytes.
type gap struct{ from, to int }

// gaps are the free ranges of the arena, in order, none next to another. The last one has no end.
type gaps []gap

// take removes bytes from the smallest gap that has as many, and returns their offset.
func (g *gaps) take(bytes int) int {
	best := len(*g) - 1
	for i, x := range *g {
		if n := x.to - x.from; n >= bytes && n < (*g)[best].to-(*g)[best].from {
			best = i
		}
	}
	x := &(*g)[best]
	at := x.from
	if x.from += bytes; x.from == x.to {
		*g = slices.Delete(*g, best, best+1)
	}
	return at
}

// give adds a range.
func (g *gaps) give(x gap) {
	if x.from == x.to {
		return
	}
	i, _ := slices.BinarySearchFunc(*g, x.from, func(y gap, from int) int { return y.from - from })
	if next := (*g)[i]; next.from == x.to {
		x.to = next.to
		*g = slices.Delete(*g, i, i+1)
	}
	if i > 0 && (*g)[i-1].to == x.from {
		(*g)[i-1].to = x.to
		return
	}
	*g = slices.Insert(*g, i, x)
}
