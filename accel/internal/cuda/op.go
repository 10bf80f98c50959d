package cuda

import (
	"fmt"
	"reflect"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// opStep is a step of one op that is not elementwise: it has kernels of its own.
type opStep struct {
	label  string
	launch launcher
}

// launcher returns the kernels of a step for the addresses of a run.
type launcher func(p *program) ([]kernels.Launch, error)

// own makes the launchers of ops with our own kernels, by the op's type. An op that needs a
// workspace or reports faults asks the program for it (needWorkspace, check).
var own = map[reflect.Type]func(p *program, s ir.Step) launcher{}

// register adds the kernels of an op.
func register[O ir.Op](build func(p *program, op O, s ir.Step) launcher) {
	own[reflect.TypeFor[O]()] = func(p *program, s ir.Step) launcher { return build(p, s.Op.(O), s) }
}

// candidates returns the algorithms with which a library can compute a step, and a key of
// what their time depends on; none if it cannot.
type candidates func(p *program, s ir.Step, label string) (key any, algorithms []step)

// ofLibraries are the candidates of libraries, by the op's type.
var ofLibraries = map[reflect.Type]candidates{}

func registerLibrary[O ir.Op](c candidates) { ofLibraries[reflect.TypeFor[O]()] = c }

func (w *opStep) launches(p *program) ([]launch, error) {
	list, err := w.launch(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.device.name, w.label, err)
	}
	out := make([]launch, len(list))
	for i, l := range list {
		if out[i].Launch, err = p.device.code.launch(l, w.label); err != nil {
			return nil, p.device.failed(w.label, err)
		}
	}
	return out, nil
}

// endsWithReLU reports whether ReLU is fused to the end of a step.
func endsWithReLU(s ir.Step) bool {
	_, ok := s.Epilogue.(ir.ReLU)
	return ok
}

// biasOf returns a function that gives the address of a step's third input, 0 without
// one. An input that is not contiguous is copied behind the workspace.
func (p *program) biasOf(s ir.Step, workspace int) func(p *program) (at kernels.Pointer, copies []kernels.Launch, err error) {
	p.needWorkspace(workspace)
	switch {
	case len(s.In) < 3:
		return func(*program) (kernels.Pointer, []kernels.Launch, error) { return 0, nil, nil }
	case s.In[2].Contiguous():
		return func(p *program) (kernels.Pointer, []kernels.Launch, error) { return p.address(s.In[2]), nil, nil }
	}
	bias := s.In[2]
	row := kernels.Copy{Size: bias.DType.Size(), Layout: bias.Layout}
	p.needWorkspace(workspace + ir.Len(bias.Shape)*bias.DType.Size())
	return func(p *program) (kernels.Pointer, []kernels.Launch, error) {
		at := p.work() + kernels.Pointer(workspace)
		copies, err := row.Launches(at, p.address(bias))
		return at, copies, err
	}
}

// indices explains the fault of an index out of range.
func indices(op string, size int) explain {
	return func(fault uint64, _ int64) error {
		if _, what, wrong := kernels.Fault(fault); wrong {
			return &ir.IndexError{Op: op, Index: int(what), Size: size}
		}
		return nil
	}
}

// splitAround returns the number of elements of the dimensions before from, from from to
// to, and after.
func splitAround(shape []int, from, to int) (outer, n, inner int) {
	return ir.Len(shape[:from]), ir.Len(shape[from:to]), ir.Len(shape[to:])
}

// splitLast returns the number of rows and the size of the last dimension.
func splitLast(shape []int) (rows, n int) {
	last := len(shape) - 1
	return ir.Len(shape[:last]), shape[last]
}
