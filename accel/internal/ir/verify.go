package ir

import "fmt"

// Verify checks a program: operands are within their slots, steps read what was written
// before, and live temporaries do not overlap in the arena.
func Verify(p *Program) error {
	written := make([]bool, len(p.Slots))
	for i, s := range p.Slots {
		written[i] = s.Kind == External
		if s.Kind == Arena && s.Offset+s.Bytes > p.Arena {
			return fmt.Errorf("ir: slot %d ends after the end of the arena", i)
		}
	}
	for k, s := range p.Steps {
		for _, o := range s.In {
			if o.Slot < 0 || o.Slot >= len(p.Slots) || !written[o.Slot] {
				return fmt.Errorf("ir: step %d reads slot %d before it is written", k, o.Slot)
			}
			if err := inside(o, p.Slots[o.Slot]); err != nil {
				return fmt.Errorf("ir: step %d: %w", k, err)
			}
		}
		for _, o := range s.Out {
			if err := inside(o, p.Slots[o.Slot]); err != nil {
				return fmt.Errorf("ir: step %d: %w", k, err)
			}
			written[o.Slot] = true
		}
		for i, in := range s.Loop {
			for _, a := range in.Args {
				if a < 0 || a >= len(s.In)+i {
					return fmt.Errorf("ir: step %d, instruction %d reads a later result", k, i)
				}
			}
		}
	}
	return verifyArena(p)
}

func inside(o Operand, s Slot) error {
	if Len(o.Shape) == 0 {
		return nil
	}
	end := o.Offset
	for i, d := range o.Shape {
		end += (d - 1) * o.Stride[i]
	}
	if o.Offset < 0 || (end+1)*o.DType.Size() > s.Bytes {
		return fmt.Errorf("an operand of shape %v ends after the end of its slot", o.Shape)
	}
	return nil
}

// verifyArena replays the steps over the arena: a step must read what was written to its
// slot.
func verifyArena(p *Program) error {
	type extent struct{ slot, from, to int }
	var owners []extent // disjoint, latest writer of each range
	write := func(slot int) {
		s := p.Slots[slot]
		kept := owners[:0]
		for _, o := range owners {
			if o.slot != slot && (o.to <= s.Offset || s.Offset+s.Bytes <= o.from) {
				kept = append(kept, o)
			}
		}
		owners = append(kept, extent{slot, s.Offset, s.Offset + s.Bytes})
	}
	for k, s := range p.Steps {
		for _, o := range s.In {
			if sl := p.Slots[o.Slot]; sl.Kind == Arena && sl.Bytes > 0 {
				ok := false
				for _, e := range owners {
					ok = ok || e.slot == o.Slot
				}
				if !ok {
					return fmt.Errorf("ir: step %d reads slot %d after it was overwritten", k, o.Slot)
				}
			}
		}
		for _, o := range s.Out {
			if sl := p.Slots[o.Slot]; sl.Kind == Arena {
				for _, in := range s.In {
					t := p.Slots[in.Slot]
					if t.Kind == Arena && t.Bytes > 0 && sl.Bytes > 0 && t.Offset < sl.Offset+sl.Bytes && sl.Offset < t.Offset+t.Bytes {
						return fmt.Errorf("ir: step %d writes slot %d over its input", k, o.Slot)
					}
				}
				write(o.Slot)
			}
		}
	}
	return nil
}
