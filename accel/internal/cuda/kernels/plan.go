package kernels

import (
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Planner is the program for which a step is planned.
type Planner interface {
	// NeedWorkspace makes the workspace of all steps large enough for this one.
	NeedWorkspace(bytes int)
	// Check adds a fault that the step may report, at most one for each step.
	Check(Explain)
	// TF32 reports whether float32 is rounded to TF32 for tensor cores.
	TF32() bool
	// Wgmma reports whether the GPU has the wgmma instructions and the driver accepts them.
	Wgmma() bool
}

// Explain returns the error for what a step wrote to its fault, and the value behind it; nil
// if it wrote nothing.
type Explain func(fault uint64, value int64) error

// Launcher returns the kernels of a step.
type Launcher func(a Addresses) ([]Launch, error)

// Addresses are those of a step in a run.
type Addresses struct {
	In, Out []Pointer // first elements
	Work    Pointer   // the workspace
	Word    Pointer   // the first dynamic word
	Fault   Pointer   // of the step's check, 0 for none
}

// Optional returns the address of an input, 0 if the step does not have it.
func (a Addresses) Optional(input int) Pointer {
	if input < len(a.In) {
		return a.In[input]
	}
	return 0
}

// planners make the launchers of ops, by the op's type.
var planners = map[reflect.Type]func(p Planner, s ir.Step) Launcher{}

// register adds the kernels of an op.
func register[O ir.Op](plan func(p Planner, op O, s ir.Step) Launcher) {
	planners[reflect.TypeFor[O]()] = func(p Planner, s ir.Step) Launcher { return plan(p, s.Op.(O), s) }
}

// Plan returns the launcher of a step that is one op, nil if there are no kernels for it.
func Plan(p Planner, s ir.Step) Launcher {
	plan := planners[reflect.TypeOf(s.Op)]
	if plan == nil {
		return nil
	}
	return plan(p, s)
}

// Implements reports whether there are kernels for an op.
func Implements(op ir.Op) bool { return planners[reflect.TypeOf(op)] != nil }

// onTensorCores reports whether tensor cores multiply elements of a type.
func onTensorCores(p Planner, factor tensortype.DType) bool {
	return factor.Is16Bit() || factor == ir.Float32 && p.TF32()
}

// EndsWithReLU reports whether ReLU is fused to the end of a step.
func EndsWithReLU(s ir.Step) bool {
	_, ok := s.Epilogue.(ir.ReLU)
	return ok
}

// indices explains the fault of an index out of range.
func indices(op string, size int) Explain {
	return func(fault uint64, _ int64) error {
		if element, what, wrong := Fault(fault); wrong {
			return &ir.IndexError{Op: op, Index: int(what), Element: element, Size: size}
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
