package cpu

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// program is a compiled list of steps.
type program struct {
	device *Device
	slots  []ir.Slot
	memory []unsafe.Pointer // address of each slot during a run
	words  []uint64
	steps  []step
}

// step is a kernel with its operands.
type step interface {
	run(p *program) error
}

// stepFunc is a step that keeps nothing between its runs.
type stepFunc func(p *program) error

func (f stepFunc) run(p *program) error { return f(p) }

// builder builds the step of a whole-tensor op.
type builder func(*Device, ir.Step) (step, error)

// builders are the builders of whole-tensor ops by type. The file of each op calls implement, or implementFloat32 for
// an op that computes float64 by its composition.
var builders, onlyFloat32 = map[reflect.Type]builder{}, map[reflect.Type]bool{}

func implement[T ir.Op](build builder) struct{} {
	builders[reflect.TypeFor[T]()] = build
	return struct{}{}
}

func implementFloat32[T ir.Op](build builder) struct{} {
	onlyFloat32[reflect.TypeFor[T]()] = true
	return implement[T](build)
}

// HasKernel reports whether there is a kernel for an op and the element type of its first input.
func (d *Device) HasKernel(op ir.Op, t ir.DType) bool {
	of := reflect.TypeOf(op)
	if builders[of] != nil {
		return t != ir.Float64 || !onlyFloat32[of]
	}
	return elementwiseOps[of] != nil || lineOf(op) != nil
}

// builderOf returns the builder of a step, or nil.
func builderOf(s ir.Step) builder {
	switch {
	case len(s.Parts) > 0:
		return newLoops
	case s.Op == nil:
		return func(d *Device, s ir.Step) (step, error) { return newLoop(d, s) }
	}
	if build := builders[reflect.TypeOf(s.Op)]; build != nil {
		return build
	}
	if lineOf(s.Op) != nil {
		return newFloat64Elementwise
	}
	return nil
}

// Compile builds the steps of a program.
func (d *Device) Compile(p *ir.Program) (ir.Executable, error) {
	out := &program{device: d, slots: p.Slots, memory: make([]unsafe.Pointer, len(p.Slots))}
	if d.workspace.size < p.Arena {
		d.workspace = hugeStorage(p.Arena)
	}
	for _, s := range p.Steps {
		build := builderOf(s)
		if build == nil || len(s.In) > 0 && s.In[0].DType == ir.Float64 && onlyFloat32[reflect.TypeOf(s.Op)] {
			return nil, fmt.Errorf("cpu: there is no kernel for the op %s with these element types", s.Op.Name())
		}
		k, err := build(d, s)
		if err != nil {
			return nil, err
		}
		out.steps = append(out.steps, k)
	}
	return out, nil
}

// Run runs the steps.
func (p *program) Run(bind []ir.Storage, words []uint64) (int, error) {
	return p.RunTimed(bind, words, nil)
}

// RunTimed runs the steps and calls after, unless it is nil, after each one.
func (p *program) RunTimed(bind []ir.Storage, words []uint64, after func()) (int, error) {
	for i, s := range p.slots {
		if s.Kind == ir.Arena {
			p.memory[i] = unsafe.Add(p.device.workspace.base, s.Offset)
		} else {
			p.memory[i] = bind[i].(*storage).base
		}
	}
	p.words = words
	defer clear(p.memory) // release the bound memory
	for i, s := range p.steps {
		if err := s.run(p); err != nil {
			return i, err
		}
		if after != nil {
			after()
		}
	}
	return len(p.steps), nil
}

func (p *program) scalar(word int) float64 { return math.Float64frombits(p.words[word]) }

// elements returns the elements of a row-major operand.
func elements[T any](p *program, o ir.Operand) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Add(p.memory[o.Slot], o.Offset*int(unsafe.Sizeof(zero)))), ir.Len(o.Shape))
}

// from returns the memory of an operand with any layout, from its offset to its last
// element.
func from[T any](p *program, o ir.Operand) []T {
	var zero T
	n := 1
	for i, d := range o.Shape {
		if d == 0 {
			return nil
		}
		n += (d - 1) * o.Stride[i]
	}
	return unsafe.Slice((*T)(unsafe.Add(p.memory[o.Slot], o.Offset*int(unsafe.Sizeof(zero)))), n)
}
