package ir

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
		if a.new.index < 0 || a.new.epoch != a.old.epoch || !b.canDonate(a) {
			continue
		}
		n := b.planner.nodes[a.new.index]
		if n.class == View && n.base != nil && n.layout.Contiguous() && n.layout.Offset == 0 {
			n = n.base
		}
		if n.slot < 0 || b.program.Slots[n.slot].Kind != Output {
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
		} else if read && last == at && !elementwiseUse(b.program.Steps[at], slot) {
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

// elementwiseUse reports whether a step reads a slot only at the element that it writes.
func elementwiseUse(s Step, slot int) bool {
	if s.Op != nil {
		return false
	}
	for _, in := range s.In {
		if in.Slot == slot && (in.Offset != 0 || !in.Contiguous()) {
			return false
		}
	}
	return true
}

// align is the alignment of temporaries, a cache line.
const align = 64

// placeArena gives each temporary the lowest offset in the arena that is free while it is
// live.
func (b *builder) placeArena() {
	type span struct{ slot, from, to, first, last int }
	var placed []span
	for i := range b.program.Slots {
		s := &b.program.Slots[i]
		if s.Kind != Arena {
			continue
		}
		size := (s.Bytes + align - 1) / align * align
		at := 0
		for moved := true; moved; {
			moved = false
			for _, p := range placed {
				if p.first <= b.last[i] && b.first[i] <= p.last && at < p.to && p.from < at+size {
					at, moved = p.to, true
				}
			}
		}
		s.Offset = at
		placed = append(placed, span{i, at, at + size, b.first[i], b.last[i]})
		b.program.Arena = max(b.program.Arena, at+size)
	}
}
