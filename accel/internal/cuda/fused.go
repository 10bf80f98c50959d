package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// fusedKernel computes a chain of elementwise ops.
type fusedKernel struct {
	kernel   *ptx.Kernel
	function driver.Function
	guards   []int // faults of earlier steps: no output is overwritten if one is set
	outputs  []int // slots of outputs that outlive the program; none without guards
	updates  []update
}

// update is an output that must be the old value after a fault. The copy of that comes first, and the kernel leaves it after a fault.
type update struct {
	ir.Update
	copy kernels.Launcher
}

func (p *program) newFusedKernel(s ir.Step) (step, error) {
	l := &fusedKernel{}
	for _, o := range s.Out {
		if p.slots[o.Slot].Kind == ir.Output { // may be memory that existed before the run
			l.outputs = append(l.outputs, o.Slot)
		}
	}
	if len(l.outputs) > 0 {
		for i, why := range p.explains {
			if why != nil {
				l.guards = append(l.guards, i)
			}
		}
	}
	if len(l.guards) > 0 {
		for _, u := range s.Updates {
			l.updates = append(l.updates, update{u, kernels.Plan(p, ir.Step{Op: ir.Copy{}, In: []ir.Operand{u.Old}, Out: []ir.Operand{u.New}})})
		}
	}
	return l, p.compile(l, s)
}

// compile generates and loads the kernel.
func (p *program) compile(l *fusedKernel, s ir.Step) (err error) {
	if l.kernel, err = ptx.New(s, len(l.guards)); err != nil {
		return err
	}
	if l.function, err = p.device.code.program(l.kernel.PTX, ptx.Entry, ptx.Entry); err != nil {
		return p.device.failed(l.kernel.Label(), err)
	}
	return nil
}

func (l *fusedKernel) launches(p *program) ([]launch, error) {
	if l.kernel.Empty() {
		return nil, nil
	}
	guards := make([]driver.Pointer, len(l.guards))
	replaces := p.replaces(l.outputs)
	var out []launch
	if len(l.updates) > 0 && (replaces || len(l.updates) == len(l.outputs)) {
		replaces = true
		for _, u := range l.updates {
			copies, err := u.launches(p)
			if err != nil {
				return nil, p.device.failed(l.kernel.Label(), err)
			}
			out = append(out, copies...)
		}
	}
	for i, g := range l.guards {
		// An output that replaces nothing is written even after a fault: later steps read it.
		if guards[i] = p.fault(len(p.explains)); replaces {
			guards[i] = p.fault(g)
		}
	}
	for _, one := range l.kernel.Launches(p.address, p.held.words, guards) {
		one.Function = l.function
		out = append(out, launch{Launch: one})
	}
	return out, nil
}

func (u update) launches(p *program) ([]launch, error) {
	list, err := u.copy(kernels.Addresses{Work: p.work(), In: []driver.Pointer{p.address(u.Old)}, Out: []driver.Pointer{p.address(u.New)}})
	if err != nil {
		return nil, err
	}
	return p.device.code.launches(list, "copy")
}

// replaces reports whether an output overwrites memory that existed before the run.
func (p *program) replaces(outputs []int) bool {
	for _, o := range outputs {
		for i, s := range p.slots {
			if s.Kind == ir.External && p.at[i] == p.at[o] {
				return true
			}
		}
	}
	return false
}
