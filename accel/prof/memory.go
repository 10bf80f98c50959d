package prof

import (
	"time"

	"github.com/quernlab/quern/accel/internal/trace"
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
func (r *Report) Memory() []MemoryPoint { return r.memory }

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
	kinds := slotKinds(largest)
	points := make([]MemoryPoint, len(largest.Times))
	for i := range points {
		points[i] = MemoryPoint{At: largest.Times[i], Bytes: map[MemoryKind]int{}}
		at := i - 1 // after this op
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
	phase := make([]trace.Phase, len(program.Steps))
	for i, s := range program.Steps {
		if n := mainNote(f.Notes, s.Nodes); n != nil {
			phase[i] = n.Phase
		}
	}
	readBackward := make([]bool, len(program.Slots))
	for i, s := range program.Steps {
		for _, o := range s.In {
			readBackward[o.Slot] = readBackward[o.Slot] || phase[i] == trace.Backward
		}
	}
	kinds := make([]MemoryKind, len(program.Slots))
	for slot, s := range program.Slots {
		createdIn := trace.Forward
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
		case s.Kind == trace.Result && createdIn == trace.Update:
			kinds[slot] = ""
		case createdIn == trace.Backward:
			kinds[slot] = Gradients
		case createdIn == trace.Forward && readBackward[slot]:
			kinds[slot] = Activations
		default:
			kinds[slot] = Temporaries
		}
	}
	return kinds
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
	var series []plots.Series
	largest := 0.0
	for _, m := range r.memory {
		largest = max(largest, float64(m.Total()))
	}
	unit, name := 1.0, "bytes"
	for _, next := range []string{"KiB", "MiB", "GiB"} {
		if largest/unit < 1000 {
			break
		}
		unit, name = unit*1024, next
	}
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
		f.Subtitle("at most " + size(largest) + " in the largest list; package tensor counts " + size(float64(r.peak)) + " at its peak")
	}
	return f
}
