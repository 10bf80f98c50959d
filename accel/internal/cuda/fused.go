package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// fusedKernel computes a chain of elementwise ops.
type fusedKernel struct {
	kernel   *ptx.Kernel
	function driver.Function
	guards   []int // faults of earlier steps: no output is overwritten if one is set
	outputs  []int // slots of outputs that outlive the program; none without guards
	updates  []int // slots of those that must be the old values after a fault
	copies   []step
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
			c, err := p.newOpStep(ir.Step{Op: ir.Copy{}, In: []ir.Operand{u.Old}, Out: []ir.Operand{u.New}, Nodes: s.Nodes})
			if err != nil {
				return nil, err
			}
			l.updates, l.copies = append(l.updates, u.New.Slot), append(l.copies, c)
		}
	}
	return l, p.compile(l, s)
}

// compile generates and loads the kernel.
func (p *program) compile(l *fusedKernel, s ir.Step) (err error) {
	if l.kernel, err = ptx.New(s, len(l.guards)); err != nil {
		return err
	}
	if l.function, err = p.device.code.loop(l.kernel.PTX); err != nil {
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
		for _, c := range l.copies { // which the kernel leaves after a fault
			list, err := c.launches(p)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
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
