package prof

import (
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// MemoryKind is a kind of memory.
type MemoryKind string

// The kinds of memory, in drawing order.
const (
	Parameters  MemoryKind = "parameters"
	State       MemoryKind = "optimizer state"
	Inputs      MemoryKind = "inputs"
	Activations MemoryKind = "activations" // stored by the forward pass for the backward pass
	Gradients   MemoryKind = "gradients"   // everything that the backward pass computes
	Temporaries MemoryKind = "temporaries"
)

var memoryKinds = []MemoryKind{Parameters, State, Inputs, Activations, Gradients, Temporaries}

// MemoryPoint is the memory in bytes of the tensors of a step at one time.
type MemoryPoint struct {
	At    time.Duration      // since the start of the profile
	Phase Phase              // of the op that has just run; that of the first op at the beginning
	Bytes map[MemoryKind]int // by what the tensors are for
}

// Total returns the bytes of all kinds.
func (m MemoryPoint) Total() int {
	sum := 0
	for _, b := range m.Bytes {
		sum += b
	}
	return sum
}

// Memory returns the memory of tensors after each op of the largest list in the step of median
// duration: what that list allocates, and its inputs.
func (r *Report) Memory() []MemoryPoint {
	r.exists("Memory")
	return r.memory
}

// memory returns the memory of the largest list of a step.
func (p *recording) memory(step int) []MemoryPoint {
	var largest *trace.Flush
	for i := range p.flushes {
		f := &p.flushes[i]
		if p.stepAt(f.Begin) == step && len(f.Times) == len(f.Program.Steps)+1 &&
			(largest == nil || len(f.Program.Steps) > len(largest.Program.Steps)) {
			largest = f
		}
	}
	if largest == nil {
		return nil
	}
	kinds, phase := slotKinds(largest), stepPhases(largest)
	points := make([]MemoryPoint, len(largest.Times))
	for i := range points {
		points[i] = MemoryPoint{At: largest.Times[i], Bytes: map[MemoryKind]int{}}
		at := i - 1 // after this op
		if len(phase) > 0 {
			points[i].Phase = phase[max(at, 0)]
		}
		for slot, s := range largest.Program.Slots {
			switch {
			case kinds[slot] == "":
			case s.Kind == trace.Before,
				s.Kind == trace.Result && s.First <= at,
				s.Kind == trace.Temporary && s.First <= at && at <= s.Last:
				points[i].Bytes[kinds[slot]] += s.Bytes
			}
		}
	}
	return points
}

// slotKinds returns the kind of each slot of a list; "" for a new value that reuses the slot of
// an old one.
func slotKinds(f *trace.Flush) []MemoryKind {
	program := f.Program
	phase := stepPhases(f)
	readBackward := make([]bool, len(program.Slots))
	for i, s := range program.Steps {
		for _, o := range s.In {
			readBackward[o.Slot] = readBackward[o.Slot] || phase[i] == Backward
		}
	}
	kinds := make([]MemoryKind, len(program.Slots))
	for slot, s := range program.Slots {
		createdIn := Forward
		if s.First < len(phase) {
			createdIn = phase[s.First]
		}
		switch {
		case s.Kind == trace.Before:
			kinds[slot] = Inputs
			if s.External < len(f.Externals) && s.External >= 0 {
				switch x := f.Externals[s.External]; {
				case x.Parameter:
					kinds[slot] = Parameters
				case x.Gradient:
					kinds[slot] = Gradients
				case x.Replaced:
					kinds[slot] = State
				}
			}
		case s.Kind == trace.Result && createdIn == Update:
			kinds[slot] = ""
		case createdIn == Backward:
			kinds[slot] = Gradients
		case createdIn == Forward && readBackward[slot]:
			kinds[slot] = Activations
		default:
			kinds[slot] = Temporaries
		}
	}
	return kinds
}

// stepPhases returns the phase of each step of a list.
func stepPhases(f *trace.Flush) []Phase {
	all := make([]Phase, len(f.Program.Steps))
	for i, s := range f.Program.Steps {
		all[i] = Forward
		if n := mainNote(f.Notes, s.Nodes); n != nil {
			all[i] = phases[n.Phase]
		}
	}
	return all
}

// MemoryUse is the memory of tensors and temporaries during a step.
type MemoryUse struct {
	Allocated int // bytes of tensors that can be reached after the steps
	// Reserved is the bytes that the device holds after the steps: on a GPU with unused blocks of the pool, on the CPU
	// with tensors that the garbage collector has not removed yet. Both include the temporaries.
	Reserved int
	// Peak is the most bytes at once in a step. Unreachable tensors do not count, but those of the program that the step
	// does not use do. It is measured in the last warm-up step, and may miss less than 1/16 and 1 MiB of it, as
	// tensors.PeakBytes; without warm-up it is only what the phases take.
	Peak int
	// Forward, Backward and Update are the most bytes during these phases of the largest list of a step.
	Forward, Backward, Update int
}

// MemoryUse returns the memory of a step: see accel.Memory for that of the program now.
func (r *Report) MemoryUse() MemoryUse {
	r.exists("MemoryUse")
	use := r.use
	of := map[Phase]*int{Forward: &use.Forward, Backward: &use.Backward, Update: &use.Update}
	for _, m := range r.memory {
		if most := of[m.Phase]; most != nil {
			*most = max(*most, m.Total())
		}
		use.Peak = max(use.Peak, m.Total())
	}
	return use
}

// String returns the memory in one line.
func (m MemoryUse) String() string {
	text := fmt.Sprintf("allocated %s, reserved %s", quantity.Bytes(m.Allocated), quantity.Bytes(m.Reserved))
	if m.Peak > 0 {
		text += ", peak over a step " + quantity.Bytes(m.Peak)
	}
	for _, p := range []struct {
		phase Phase
		bytes int
	}{{Forward, m.Forward}, {Backward, m.Backward}, {Update, m.Update}} {
		if p.bytes > 0 {
			text += fmt.Sprintf("; %s %s", p.phase, quantity.Bytes(p.bytes))
		}
	}
	return text
}

// peakOf returns the point with the most memory.
func peakOf(points []MemoryPoint) MemoryPoint {
	var most MemoryPoint
	for _, m := range points {
		if m.Total() > most.Total() {
			most = m
		}
	}
	return most
}

// MemoryFigure draws the memory during the step, by kind.
func (r *Report) MemoryFigure() *plots.Figure {
	r.exists("MemoryFigure")
	var series []plots.Series
	largest := 0.0
	for _, m := range r.memory {
		largest = max(largest, float64(m.Total()))
	}
	unit, name := quantity.Unit(largest)
	for _, kind := range memoryKinds {
		s := plots.Series{Name: string(kind), X: []float64{}}
		some := false
		for _, m := range r.memory {
			s.X = append(s.X, (m.At-r.memory[0].At).Seconds()*1e3)
			s.Y = append(s.Y, float64(m.Bytes[kind])/unit)
			some = some || m.Bytes[kind] > 0
		}
		if some {
			series = append(series, s)
		}
	}
	f := plots.Areas("Memory over the step", series...).XLabel("ms").YLabel(name)
	if len(r.memory) > 0 {
		f.Subtitle(r.MemoryUse().String())
	}
	return f
}
