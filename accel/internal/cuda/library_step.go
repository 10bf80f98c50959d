package cuda

import (
	"fmt"
	"reflect"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// candidates returns the algorithms with which a library can compute a step, and a key of
// what their time depends on; none if it cannot.
type candidates func(p *program, s ir.Step, label string) (key any, algorithms []candidate)

// ofLibraries are the candidates of libraries, by the op's type.
var ofLibraries = map[reflect.Type]candidates{}

func registerLibrary[O ir.Op](c candidates) { ofLibraries[reflect.TypeFor[O]()] = c }

// libraryStep is a plan of a library, followed by a fused kernel for the parts of a bias
// and ReLU that the plan does not compute, and by the sum of a factor.
type libraryStep struct {
	plan interface {
		Name() string
		Workspace() int
	}
	after []step // what the plan does not compute
	op    string
}

func (w *libraryStep) name() string { return w.plan.Name() }

func (w *libraryStep) workspace() int { return w.plan.Workspace() }

func (w *libraryStep) verify(*program) error { return nil }

// call returns the launch of the plan for some addresses.
func (w *libraryStep) call(at []driver.Pointer, run func(driver.Stream) error) launch {
	return launch{call: &libraryCall{name: w.plan.Name(), op: w.op, plan: w.plan, at: at, run: run}}
}

// then adds what the plan does not compute to its launches.
func (w *libraryStep) then(p *program, out []launch) ([]launch, error) {
	for _, s := range w.after {
		more, err := s.launches(p)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// plansFor returns the plans of a library, none if it cannot compute q, and the kernel for
// what is left to do with the result y.
func plansFor[Q comparable, P interface{ Close() }, L planner[Q, P]](p *program, from *optional[Q, P, L], q Q, op string, y ir.Operand, bias []ir.Operand, end ending) (plans []P, after []step) {
	if plans = from.findPlans(q, op); len(plans) == 0 {
		return nil, nil
	}
	kernel, err := p.epilogue(y, bias, end)
	if err != nil {
		from.of.logRejected(from.name, err)
		return nil, nil
	}
	if kernel != nil {
		after = append(after, kernel)
	}
	return plans, after
}

// ending is the elementwise op at the end of a step, nil for none, its inputs beside the result, and where its result is if
// not in the place of its argument.
type ending struct {
	op       ir.Op
	with, to []ir.Operand
}

// name returns the op's name, "" for none.
func (e ending) name() string {
	if e.op == nil {
		return ""
	}
	return e.op.Name()
}

// endOf returns the ending of a step, whose last input is that of the gradient of an activation.
func endOf(s ir.Step) ending {
	if kernels.SlopeOf(s.Epilogue) == 0 {
		return ending{op: s.Epilogue}
	}
	return ending{op: s.Epilogue, with: s.In[len(s.In)-1:]}
}

// epilogue returns a fused kernel that adds a bias, of which there is at most one, to the
// second dimension of y and computes the end of a step; nil for neither.
func (p *program) epilogue(y ir.Operand, bias []ir.Operand, end ending) (*fusedKernel, error) {
	channels := 1 // the dimension of the bias
	if y.ChannelsLast() {
		channels = len(y.Shape) - 1
		y.Layout = ir.RowMajor(append(append([]int{y.Shape[0]}, y.Shape[2:]...), y.Shape[1]))
	}
	s := ir.Step{Shape: y.Shape, In: []ir.Operand{y}, Out: []ir.Operand{y}}
	for _, b := range bias {
		b.Layout = ir.Layout{Shape: y.Shape, Stride: make([]int, len(y.Shape)), Offset: b.Offset}
		b.Stride[channels] = bias[0].Stride[0]
		s.In = append(s.In, b)
	}
	args := []int{0} // of the end
	for _, x := range end.with {
		args = append(args, len(s.In))
		s.In = append(s.In, x)
	}
	if len(bias) > 0 {
		s.Loop = append(s.Loop, ir.Instr{Op: ir.Add{}, Args: []int{0, 1}, Out: -1})
		args[0] = len(s.In)
	}
	if end.op != nil {
		s.Loop = append(s.Loop, ir.Instr{Op: end.op, Args: args, Out: -1})
	}
	if len(end.to) > 0 { // y was stored
		s.Out = end.to
	}
	if len(s.Loop) == 0 {
		return nil, nil
	}
	s.Loop[len(s.Loop)-1].Out = 0
	l := &fusedKernel{}
	return l, p.compile(l, s)
}

// alignedPointer is an address with the alignment that a plan requires, in bytes.
type alignedPointer struct {
	at    driver.Pointer
	align int
}

func (p alignedPointer) aligned() bool { return p.at%driver.Pointer(p.align) == 0 }

// misalignedError is a bug: a plan was created for a larger alignment than its address
// has.
type misalignedError struct {
	op string
	at driver.Pointer
}

func (e *misalignedError) Error() string {
	return fmt.Sprintf("%s: the address %#x is less aligned than the library's plan requires", e.op, e.at)
}
