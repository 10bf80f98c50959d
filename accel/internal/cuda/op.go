package cuda

import (
	"fmt"
	"reflect"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// launcher returns the kernels of a step.
type launcher func(a addresses) ([]kernels.Launch, error)

// addresses are those of a step in a run.
type addresses struct {
	in, out []kernels.Pointer // first elements
	work    kernels.Pointer   // the workspace
	word    kernels.Pointer   // the first dynamic word
	fault   kernels.Pointer   // of the step's check, 0 for none
}

// optional returns the address of an input, 0 if the step does not have it.
func (a addresses) optional(input int) kernels.Pointer {
	if input < len(a.in) {
		return a.in[input]
	}
	return 0
}

// own makes the launchers of ops with our own kernels, by the op's type. An op that needs a
// workspace or reports faults asks the program for it (needWorkspace, check).
var own = map[reflect.Type]func(p *program, s ir.Step) launcher{}

// register adds the kernels of an op.
func register[O ir.Op](build func(p *program, op O, s ir.Step) launcher) {
	own[reflect.TypeFor[O]()] = func(p *program, s ir.Step) launcher { return build(p, s.Op.(O), s) }
}

// candidates returns the algorithms with which a library can compute a step, and a key of
// what their time depends on; none if it cannot.
type candidates func(p *program, s ir.Step, label string) (key any, algorithms []candidate)

// ofLibraries are the candidates of libraries, by the op's type.
var ofLibraries = map[reflect.Type]candidates{}

func registerLibrary[O ir.Op](c candidates) { ofLibraries[reflect.TypeFor[O]()] = c }

// opStep is a step of one op that is not elementwise: it has kernels of its own.
type opStep struct {
	step   ir.Step
	label  string
	fault  int // number of the step's check, -1 for none
	launch launcher
}

// kernels returns the kernels for the addresses of a run.
func (w *opStep) kernels(p *program) ([]kernels.Launch, error) {
	a := addresses{work: p.work(), word: p.held.words + kernels.Pointer(8*w.step.Word), fault: p.fault(w.fault)}
	for _, o := range w.step.In {
		a.in = append(a.in, p.address(o))
	}
	for _, o := range w.step.Out {
		a.out = append(a.out, p.address(o))
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
	out := make([]launch, len(list))
	for i, l := range list {
		if out[i].Launch, err = p.device.code.launch(l, w.label); err != nil {
			return nil, p.device.failed(w.label, err)
		}
	}
	return out, nil
}

func (w *opStep) name() string { return "own kernel" }

func (w *opStep) workspace() int { return 0 }

func (w *opStep) verify(*program) error { return nil }

// endsWithReLU reports whether ReLU is fused to the end of a step.
func endsWithReLU(s ir.Step) bool {
	_, ok := s.Epilogue.(ir.ReLU)
	return ok
}

// withBias makes the third input of a step contiguous, if there is one, by a copy behind
// the workspace.
func (p *program) withBias(s ir.Step, workspace int, launch launcher) launcher {
	p.needWorkspace(workspace)
	if len(s.In) < 3 || s.In[2].Contiguous() {
		return launch
	}
	bias := s.In[2]
	row := kernels.Copy{Size: bias.DType.Size(), Layout: bias.Layout}
	p.needWorkspace(workspace + ir.Len(bias.Shape)*bias.DType.Size())
	return func(a addresses) ([]kernels.Launch, error) {
		at := a.work + kernels.Pointer(workspace)
		copies, err := row.Launches(at, a.in[2])
		if err != nil {
			return nil, err
		}
		a.in[2] = at
		launches, err := launch(a)
		return append(copies, launches...), err
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
