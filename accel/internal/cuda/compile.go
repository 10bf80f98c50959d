package cuda

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Compile loads the kernels of a program, selects algorithms and allocates its memory.
func (d *Device) Compile(in *ir.Program) (ir.Executable, error) {
	if err := d.unreachable.reclaim(d.queue); err != nil {
		return nil, d.failed("compile", err)
	}
	d.libraries.retry()
	p := &program{device: d, slots: in.Slots, arena: roundUp(in.Arena), at: make([]driver.Pointer, len(in.Slots)), held: &held{}}
	for _, s := range in.Steps {
		one, err := p.step(s)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, one)
	}
	if err := p.selectCandidates(); err != nil {
		return nil, err
	}
	if err := d.reserve(p.arena + p.workspace); err != nil {
		return nil, err
	}
	if n := p.records(); n > 0 {
		at, err := d.memory.raw(n * faultBytes)
		if err != nil {
			return nil, d.failed("compile", err)
		}
		p.held.faults = at
	}
	runtime.AddCleanup(p, d.unreachable.add, p.held)
	return p, nil
}

func (p *program) step(s ir.Step) (step, error) {
	if s.Op == nil || elementwise(s.Op) {
		return p.newFusedKernel(s)
	}
	if op, ok := s.Op.(ir.KernelOp); ok {
		return p.newKernelStep(op, s)
	}
	return p.newOpStep(s)
}

// HasKernel reports whether there are kernels for an op; they compute all element types that the op accepts.
func (d *Device) HasKernel(op ir.Op, _ ir.DType) bool {
	_, own := op.(ir.KernelOp)
	return own || kernels.Implements(op) || ptx.Supports(op)
}

// elementwise reports whether an op by itself is one that a fused kernel computes, as are
// most float64 ops.
func elementwise(op ir.Op) bool { return !kernels.Implements(op) && ptx.Supports(op) }

func (p *program) newOpStep(s ir.Step) (step, error) {
	checks := len(p.explains)
	launcher := kernels.Plan(p, s)
	if launcher == nil {
		return nil, fmt.Errorf("%s: there is no kernel for %s; call SetDevice(\"cpu\") to compute it on the CPU", p.device.name, s.Op.Name())
	}
	w := &opStep{step: s, label: label(s), fault: -1, launch: launcher}
	if len(p.explains) > checks {
		w.fault = checks
	}
	// Sizes that the kernels do not support are rejected now; they do not depend on addresses.
	if _, err := w.kernels(p); err != nil {
		return nil, err
	}
	find := ofLibraries[reflect.TypeOf(s.Op)]
	if find == nil {
		return w, nil
	}
	key, algorithms := find(p, s, w.label)
	if len(algorithms) == 0 {
		return w, nil
	}
	return &selection{step: s, key: key, label: w.label, candidates: append([]candidate{w}, algorithms...), selected: -1}, nil
}

// opStep is a step of one op that is not elementwise: it has kernels of its own.
type opStep struct {
	step   ir.Step
	label  string
	fault  int // number of the step's check, -1 for none
	launch kernels.Launcher
}

// kernels returns the kernels for the addresses of a run.
func (w *opStep) kernels(p *program) ([]kernels.Launch, error) {
	a := kernels.Addresses{Work: p.work(), Word: p.held.words + kernels.Pointer(8*w.step.Word), Fault: p.fault(w.fault)}
	for _, o := range w.step.In {
		a.In = append(a.In, p.address(o))
	}
	for _, o := range w.step.Out {
		a.Out = append(a.Out, p.address(o))
	}
	list, err := w.launch(a)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.device.name, w.label, err)
	}
	return list, nil
}

func (w *opStep) launches(p *program) ([]launch, error) {
	list, err := w.kernels(p)
	if err != nil {
		return nil, err
	}
	out, err := p.device.code.launches(list, w.label)
	if err != nil {
		return nil, p.device.failed(w.label, err)
	}
	return out, nil
}

func (w *opStep) name() string { return "own kernel" }

func (w *opStep) workspace() int { return 0 }

func (w *opStep) verify(*program) error { return nil }
