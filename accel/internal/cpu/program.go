package cpu

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/ir"
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

// builder builds the step of a whole-tensor op.
type builder func(*Device, ir.Step) (step, error)

// builders are the builders of whole-tensor ops by type, and float64Builders those of float64 if
// they differ. The file of each op calls implement.
var builders, float64Builders = map[reflect.Type]builder{}, map[reflect.Type]builder{}

func implement[T ir.Op](build builder, float64s ...func(ir.Step) *float64Op) struct{} {
	op := reflect.TypeFor[T]()
	builders[op] = build
	for _, build := range float64s {
		float64Builders[op] = func(_ *Device, s ir.Step) (step, error) { return build(s), nil }
	}
	return struct{}{}
}

// builderOf returns the builder of a step, or nil.
func builderOf(s ir.Step) builder {
	op := reflect.TypeOf(s.Op)
	if build := float64Builders[op]; build != nil && s.In[0].DType == ir.Float64 {
		return build
	}
	if build := builders[op]; build != nil {
		return build
	}
	if scalarOf(s.Op) != nil {
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
		if s.Op == nil {
			l, err := newLoop(d, s)
			if err != nil {
				return nil, err
			}
			out.steps = append(out.steps, l)
			continue
		}
		build := builderOf(s)
		if build == nil {
			return nil, fmt.Errorf("cpu: there is no kernel for the op %s", s.Op.Name())
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

// Implements reports whether the device has a kernel for an op.
func Implements(op ir.Op) bool {
	t := reflect.TypeOf(op)
	return builders[t] != nil || elementwiseOps[t] != nil || scalarOf(op) != nil
}
