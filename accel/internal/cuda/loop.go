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
}

// elementwise tells whether a step is one op that loops compute, as most of float64
// are.
func elementwise(s ir.Step) bool { return builders[s.Op.Name()] == nil && ptx.Knows(s.Op.Name()) }

func (p *program) newLoop(s ir.Step) (step, error) {
	l := &loop{}
	for _, o := range s.Out {
		if p.slots[o.Slot].Kind == ir.Output { // which may be something that was there before
			for i := range p.explains {
				l.guards = append(l.guards, i)
			}
			break
		}
	}
	var err error
	if l.kernel, err = ptx.NewLoop(s, len(l.guards)); err != nil {
		return nil, err
	}
	if l.function, err = p.device.code.loop(l.kernel.PTX); err != nil {
		return nil, p.device.failed(l.kernel.Label(), err)
	}
	return l, nil
}

func (l *loop) launches(p *program) ([]driver.Launch, error) {
	if l.kernel.Empty() {
		return nil, nil
	}
	guards := make([]driver.Pointer, len(l.guards))
	for i, g := range l.guards {
		guards[i] = p.fault(g)
	}
	out := l.kernel.Launch(p.address, p.held.words, guards)
	out.Function = l.function
	return []driver.Launch{out}, nil
}
