package ir

import (
	"fmt"
	"slices"
)

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

// verifyArena checks that no temporary is overwritten while a later step reads it: between the
// first step that writes a slot and the last that reads it, no other slot has the same memory.
func verifyArena(p *Program) error {
	first, last := make([]int, len(p.Slots)), make([]int, len(p.Slots))
	for i := range p.Slots {
		first[i] = -1
	}
	for k, s := range p.Steps {
		for _, o := range s.In {
			last[o.Slot] = k
		}
		for _, o := range s.Out {
			if first[o.Slot] < 0 {
				first[o.Slot] = k
			}
			last[o.Slot] = k
		}
	}
	var slots []int
	end := make([][]int, len(p.Steps))
	for i, s := range p.Slots {
		if s.Kind == Arena && s.Bytes > 0 && first[i] >= 0 {
			slots = append(slots, i)
			end[last[i]] = append(end[last[i]], i)
		}
	}
	slices.SortStableFunc(slots, func(i, j int) int { return first[i] - first[j] })
	var live []int // slots by offset
	find := func(slot int) int {
		i, _ := slices.BinarySearchFunc(live, p.Slots[slot].Offset, func(x, offset int) int { return p.Slots[x].Offset - offset })
		return i
	}
	for k := range p.Steps {
		for ; len(slots) > 0 && first[slots[0]] == k; slots = slots[1:] {
			slot := slots[0]
			s, i := p.Slots[slot], find(slot)
			if i < len(live) && p.Slots[live[i]].Offset < s.Offset+s.Bytes {
				return fmt.Errorf("ir: step %d writes slot %d over slot %d, which step %d uses", k, slot, live[i], last[live[i]])
			}
			if i > 0 && p.Slots[live[i-1]].Offset+p.Slots[live[i-1]].Bytes > s.Offset {
				return fmt.Errorf("ir: step %d writes slot %d over slot %d, which step %d uses", k, slot, live[i-1], last[live[i-1]])
			}
			live = slices.Insert(live, i, slot)
		}
		for _, slot := range end[k] {
			i := find(slot)
			live = slices.Delete(live, i, i+1)
		}
	}
	return nil
}
