package prof

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Phase is the phase of a step that an op belongs to.
type Phase string

// The phases.
const (
	Forward  Phase = "forward"
	Backward Phase = "backward"
	Update   Phase = "update"
)

// Op is one step of a list that was run: a matrix multiplication, or elementwise operations in
// one fused kernel.
type Op struct {
	Name  string // "Linear", "Mul+Add+Sqrt"
	Layer string // "2 Dense(64)", "block.up"; the optimizer for an update; "" if unknown
	Phase Phase  // of the step
	Step  int    // of the profile, from 0

	Begin, End  time.Duration // since the start of the profile
	FLOPs       float64       // floating-point operations
	Bytes       float64       // read and written
	ResultBytes int           // bytes of the results
	Shapes      string        // of the operands
	// Kernels are the GPU kernels of the op; nil on the CPU.
	Kernels []Kernel

	op       string          // name of the op before its epilogue, such as Linear
	in       []trace.Operand // what it reads
	float16  bool            // its operands are 16-bit floats
	random   bool            // it draws a random number for each element
	launched time.Duration   // when the host launched the kernels
}

// HostEvent is an event of the program on the host.
type HostEvent struct {
	Kind       HostKind      // what the host did
	Name       string        // of the work, such as that of a Span
	Step       int           // of the profile, from 0
	Begin, End time.Duration // since the start of the profile
	Bytes      int           // copied
}

// HostKind is the kind of a host event.
type HostKind string

// The kinds of host events.
const (
	Waiting  HostKind = "waiting for data"
	Planning HostKind = "planning"
	Reading  HostKind = "reading results"
	Writing  HostKind = "writing data"
	UserSpan HostKind = "span" // of [Span]

	Launching     HostKind = "launching"
	Synchronizing HostKind = "synchronizing" // waiting for the device

	Profiling HostKind = "profiling" // work of the profile itself

	CommunicationWait HostKind = "exchanging with ranks"  // waiting for other ranks
	Communicating     HostKind = "communication of ranks" // transfers that overlap with the program
)

// ops returns the ops of all flushes.
func (p *recording) ops() []Op {
	var all []Op
	p.findChains()
	for _, f := range p.flushes {
		for i, s := range f.Program.Steps {
			o := Op{Name: opName(s.Ops), Phase: Forward, in: s.In}
			if len(s.Ops) > 0 {
				o.op = s.Ops[0]
			}
			switch {
			case i+1 < len(f.Times):
				o.Begin, o.End = f.Times[i], f.Times[i+1]
			case f.Work == nil && len(f.Times) == 1 && i == 0: // the device reports only the time of the whole list
				o.Begin, o.End, o.Name = f.Begin, f.End, "list of "+fmt.Sprint(len(f.Program.Steps))
			default:
				continue // the list failed before this op, or only the time of the whole list is known
			}
			o.Step = p.stepAt(f.Begin)
			if o.Kernels = kernels(&f, i); f.Work != nil {
				o.launched = f.Work.Launched
			}
			if note := mainNote(f.Notes, s.Nodes); note != nil {
				o.Phase = phases[note.Phase]
				o.Layer = p.layer(note)
			}
			o.FLOPs, o.ResultBytes = s.FLOPs, bytesOf(s.Out)
			o.Bytes = float64(bytesOf(s.In) + o.ResultBytes)
			o.Shapes = shapes(s.In)
			o.float16 = len(s.In) > 0 && s.In[0].Size == 2
			o.random = slices.Contains(s.Ops, "Bernoulli")
			all = append(all, o)
		}
	}
	return all
}

var phases = map[trace.Phase]Phase{trace.Forward: Forward, trace.Backward: Backward, trace.Update: Update}

// stepAt returns the step of the profile that contains a time.
func (p *recording) stepAt(t time.Duration) int {
	at, _ := slices.BinarySearchFunc(p.steps, t, func(s Interval, t time.Duration) int {
		if s.End < t {
			return -1
		}
		return 1
	})
	return at
}

// opName returns the name of a fused kernel, or of an op with its epilogue.
func opName(ops []string) string {
	const most = 3
	if len(ops) <= most {
		return strings.Join(ops, "+")
	}
	return strings.Join(ops[:most], "+") + fmt.Sprintf("+%d more", len(ops)-most)
}

// mainNote returns the most informative note of a step's nodes: one with a parameter, of the
// most frequent phase.
func mainNote(notes []*trace.Note, nodes []int) *trace.Note {
	var counts [3]int
	for _, i := range nodes {
		if i < len(notes) && notes[i] != nil {
			counts[notes[i].Phase]++
		}
	}
	phase := trace.Forward
	for k, n := range counts {
		if n > counts[phase] {
			phase = trace.Phase(k)
		}
	}
	var best *trace.Note
	for _, i := range nodes {
		if i >= len(notes) || notes[i] == nil || notes[i].Phase != phase {
			continue
		}
		if n := notes[i]; best == nil || best.Owner == nil && n.Owner != nil || best.Owner == nil && best.Path == "" && n.Path != "" {
			best = n
		}
	}
	return best
}

// layer returns the user's name of the layer of an op.
func (p *recording) layer(n *trace.Note) string {
	scope := p.scope(n)
	if n.Phase == trace.Update {
		return scope
	}
	own := scope
	if n.Path != "" {
		scope = p.prefixes[n.Root] + n.Path + " " + own
	}
	if n.Owner == nil {
		return scope
	}
	name := p.ParameterName(n.Owner) // "block.up.weight"
	cut := strings.LastIndexByte(name, '.')
	switch {
	case cut < 0:
		return scope
	case n.Path != "" && name[:cut] == p.prefixes[n.Root]+n.Path:
		return scope
	}
	return name[:cut]
}

// findChains finds the paths of nn.Sequential layers in the model from the names of their
// parameters: "look.0.weight" of layer 0 means that the nn.Sequential is the field look.
func (p *recording) findChains() {
	p.prefixes = map[any]string{}
	for _, f := range p.flushes {
		for _, n := range f.Notes {
			if n == nil || n.Owner == nil || n.Path == "" || n.Phase == trace.Update {
				continue
			}
			name := p.ParameterName(n.Owner)
			if cut := strings.LastIndexByte(name, '.'); cut > 0 && strings.HasSuffix(name[:cut], "."+n.Path) {
				p.prefixes[n.Root] = strings.TrimSuffix(name[:cut], n.Path)
			}
		}
	}
}

// scope returns the name of the innermost scope of an op.
func (p *recording) scope(n *trace.Note) string {
	if n.Name == nil {
		return ""
	}
	return n.Name()
}

// hosts returns the host events in order.
func (p *recording) hosts() []HostEvent {
	kinds := map[trace.Kind]HostKind{
		trace.Waiting: Waiting, trace.Reading: Reading, trace.Writing: Writing, trace.UserSpan: UserSpan,
		trace.Planning: Planning, trace.Launching: Launching, trace.Synchronizing: Synchronizing,
		trace.CommunicationWait: CommunicationWait, trace.Communicating: Communicating, trace.Profiling: Profiling,
	}
	var all []HostEvent
	for _, e := range p.Events() {
		step := p.stepAt(e.Begin)
		if e.Kind == trace.Communicating { // on a device: the host does not wait for it
			step = max(0, min(step, len(p.steps)-1))
		}
		all = append(all, HostEvent{kinds[e.Kind], e.Name, step, e.Begin, e.End, e.Bytes})
	}
	for _, f := range p.flushes {
		if f.Made {
			all = append(all, HostEvent{Kind: Planning, Name: fmt.Sprintf("%d ops", len(f.Notes)), Step: p.stepAt(f.Begin), Begin: f.Begin - f.Planning, End: f.Begin})
		}
	}
	trimWaits(all)
	slices.SortStableFunc(all, func(a, b HostEvent) int { return int(a.Begin - b.Begin) })
	return all
}

// bytesOf returns the bytes that a step reads or writes at least.
func bytesOf(operands []trace.Operand) int {
	total := 0
	for _, o := range operands {
		n := o.Size
		for _, d := range o.Shape {
			n *= d
		}
		total += n
	}
	return total
}

func shapes(in []trace.Operand) string {
	texts := make([]string, len(in))
	for i, o := range in {
		texts[i] = fmt.Sprint(o.Shape)
	}
	return strings.Join(texts, " ")
}
