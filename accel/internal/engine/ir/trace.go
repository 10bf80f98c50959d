package ir

import (
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Timed is implemented by an Executable that can measure its steps.
type Timed interface {
	// RunTimed is Run, and calls after after each step.
	RunTimed(bind []Storage, words []uint64, after func()) (done int, err error)
}

// Profiled is implemented by an Executable whose steps run asynchronously.
type Profiled interface {
	// RunProfiled is Run, and reports when its kernels ran after the device was waited for.
	RunProfiled(c *trace.Collector, bind []Storage, words []uint64) (w *trace.Work, done int, err error)
}

// Stepped is implemented by an Executable that can call a function before each step.
type Stepped interface {
	// RunStepped is Run, and calls before before each step is launched.
	RunStepped(bind []Storage, words []uint64, before func(step int)) (done int, err error)
}

// note records, for a profile, the origin of a new node.
func (r *Recorder) note(c *trace.Collector, v *Value, op Op, in []*Value) {
	n := c.Note(op.Name())
	switch {
	case r.origin != nil:
		*n = *r.origin
		n.Op, n.Phase = op.Name(), trace.Backward
	case r.backward:
		n.Phase = trace.Backward
	}
	for _, x := range in {
		switch {
		case x.leaf != nil:
			n.Owner = x.leaf
		case x.note != nil && x.note.Leaf:
			n.Owner = x.note.Owner
		}
	}
	// A parameter that is cast or reshaped is still that parameter.
	n.Leaf = n.Owner != nil && (n.Op == "Cast" || op.Class(in) == View)
	v.note = n
}

// timed runs a plan and reports it to the profile.
func (r *Recorder) timed(c *trace.Collector, p *plan, bind []Storage) (done int, err error) {
	if p.described == nil {
		p.described = r.describe(p)
	}
	f := trace.Flush{Program: p.described, Planning: r.planning, Made: r.planning > 0, Times: make([]time.Duration, 1, len(p.program.Steps)+1)}
	r.planning = 0
	f.Notes = make([]*trace.Note, len(r.nodes))
	for i, v := range r.nodes {
		f.Notes[i] = v.note
	}
	f.Externals = make([]trace.External, len(r.externals))
	for i, x := range r.externals {
		f.Externals[i] = trace.External{Parameter: x.leaf != nil}
	}
	for _, a := range r.assigns {
		if i := ^a.old.index; a.old.epoch == r.epoch && i >= 0 && i < len(f.Externals) {
			f.Externals[i].Replaced = true
		}
	}
	for _, x := range r.externals {
		if x.leaf != nil && x.leaf.Grad != nil && x.leaf.Grad.epoch == r.epoch && x.leaf.Grad.index < 0 {
			f.Externals[^x.leaf.Grad.index].Gradient = true
		}
	}
	if c.Ranges() != nil {
		before, end := c.Steps(&f)
		defer end()
		switch t := p.exec.(type) {
		case Stepped:
			return t.RunStepped(bind, r.words, before)
		case Timed:
			step := -1
			next := func() {
				if step++; step < len(p.program.Steps) {
					before(step)
				}
			}
			next()
			return t.RunTimed(bind, r.words, next)
		}
		return p.exec.Run(bind, r.words)
	}
	f.Begin = c.Now()
	f.Times[0] = f.Begin
	switch t := p.exec.(type) {
	case Profiled:
		f.Work, done, err = t.RunProfiled(c, bind, r.words)
	case Timed:
		done, err = t.RunTimed(bind, r.words, func() { f.Times = append(f.Times, c.Now()) })
	default:
		done, err = p.exec.Run(bind, r.words)
	}
	f.End = c.Now()
	c.AddFlush(f)
	return done, err
}

// describe returns the description of a plan for a profile.
func (r *Recorder) describe(p *plan) *trace.Program {
	d := &trace.Program{Device: r.device.Name(), Arena: p.program.Arena}
	d.Slots = make([]trace.Slot, len(p.program.Slots))
	for i, s := range p.program.Slots {
		kinds := map[SlotKind]trace.SlotKind{External: trace.Before, Output: trace.Result, Arena: trace.Temporary}
		d.Slots[i] = trace.Slot{Kind: kinds[s.Kind], Bytes: s.Bytes, External: -1}
	}
	for i, slot := range p.externals {
		d.Slots[slot].External = i
	}
	written := make([]bool, len(d.Slots))
	for i, s := range p.program.Steps {
		t := trace.Step{Nodes: s.Nodes, FLOPs: s.FLOPs()}
		if s.Op != nil {
			t.Ops = s.opNames()
		}
		for _, in := range s.Loop {
			t.Ops = append(t.Ops, in.Op.Name())
		}
		for _, o := range s.In {
			t.In = append(t.In, operandOf(o))
			d.Slots[o.Slot].Last = i
		}
		for _, o := range s.Out {
			t.Out = append(t.Out, operandOf(o))
			slot := &d.Slots[o.Slot]
			if !written[o.Slot] {
				written[o.Slot], slot.First = true, i
			}
			slot.Last = max(slot.Last, i)
		}
		d.Steps = append(d.Steps, t)
	}
	return d
}

func operandOf(o Operand) trace.Operand {
	// A fused kernel reads a broadcast element once, however often it uses it.
	shape := slices.Clone(o.Shape)
	for i, s := range o.Stride {
		if s == 0 {
			shape[i] = 1
		}
	}
	return trace.Operand{Slot: o.Slot, Shape: shape, Size: o.DType.Size()}
}
