package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/ir"
)

// loop is a fused loop.
type loop struct {
	kernel   *ptx.Loop
	function driver.Function
	guards   []int // faults before it
	outputs  []int // slots that outlive the program, where there are guards
}

// elementwise tells whether a step is one op that loops compute, as most of float64
// are.
func elementwise(s ir.Step) bool { return builders[s.Op.Name()] == nil && ptx.Knows(s.Op.Name()) }

func (p *program) newLoop(s ir.Step) (step, error) {
	l := &loop{}
	for _, o := range s.Out {
		if p.slots[o.Slot].Kind == ir.Output { // which may be something that was there before
			l.outputs = append(l.outputs, o.Slot)
		}
	}
	if len(l.outputs) > 0 {
		for i := range p.explains {
			l.guards = append(l.guards, i)
		}
	}
	return l, p.compile(l, s)
}

// compile makes the kernel of a loop.
func (p *program) compile(l *loop, s ir.Step) (err error) {
	if l.kernel, err = ptx.NewLoop(s, len(l.guards)); err != nil {
		return err
	}
	if l.function, err = p.device.code.loop(l.kernel.PTX); err != nil {
		return p.device.failed(l.kernel.Label(), err)
	}
	return nil
}

func (l *loop) launches(p *program) ([]launch, error) {
	if l.kernel.Empty() {
		return nil, nil
	}
	guards := make([]driver.Pointer, len(l.guards))
	replaces := p.replaces(l.outputs)
	for i, g := range l.guards {
		// What replaces nothing is written in any case: later steps read it.
		if guards[i] = p.fault(len(p.explains)); replaces {
			guards[i] = p.fault(g)
		}
	}
	out := l.kernel.Launch(p.address, p.held.words, guards)
	out.Function = l.function
	return []launch{{Launch: out}}, nil
}

// replaces tells whether an output takes the place of what was there before.
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
