package cpu

import (
	"fmt"
	"math"
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

// builders build the steps of whole-tensor ops, by op name.
var builders map[string]func(*Device, ir.Step) (step, error)

func init() {
	builders = map[string]func(*Device, ir.Step) (step, error){
		"ArgMax":                  newArgMax,
		"Attention":               newAttention,
		"AttentionGradient":       newAttentionGradient,
		"AvgPool2D":               newAvgPool,
		"AvgPool2DGradient":       newAvgPool,
		"BatchNorm":               newBatchNorm,
		"BatchNormInputGradient":  newBatchNormInput,
		"BatchNormSums":           newBatchNormSums,
		"BatchStatistics":         newBatchStatistics,
		"Bernoulli":               newBernoulli,
		"Int8Linear":              newInt8Linear,
		"Cast":                    newCast,
		"Concat":                  newConcat,
		"Conv2D":                  newConv2D,
		"Conv2DInputGradient":     newConv2DInput,
		"Conv2DWeightGradient":    newConv2DWeight,
		"Copy":                    newCopy,
		"Reshape":                 newCopy,
		"CrossEntropy":            newCrossEntropy,
		"CrossEntropyGradient":    newCrossEntropyGradient,
		"CumSum":                  newCumSum,
		"Eq":                      newCompare,
		"Finite":                  newFinite,
		"IndexSelect":             newGather,
		"Greater":                 newCompare,
		"Index":                   newIndex,
		"LayerNorm":               newNorm,
		"LayerNormInputGradient":  newNorm,
		"LayerNormWeightGradient": newNormWeight,
		"Linear":                  newLinear,
		"LogSoftmax":              newSoftmax,
		"MatMul":                  newMatMul,
		"Max":                     newMax,
		"MaxPool2D":               newMaxPool,
		"MaxPool2DGradient":       newMaxPool,
		"OneHot":                  newOneHot,
		"Pad":                     newPad,
		"Quantized":               newQuantized,
		"RMSNorm":                 newNorm,
		"RMSNormInputGradient":    newNorm,
		"RMSNormWeightGradient":   newNormWeight,
		"Round8":                  newRound8,
		"IndexAdd":                newScatterAdd,
		"Softmax":                 newSoftmax,
		"Sum":                     newSum,
	}
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
		if build := float64Ops[s.Op.Name()]; build != nil && s.In[0].DType == ir.Float64 {
			out.steps = append(out.steps, build(s))
			continue
		}
		build := builders[s.Op.Name()]
		if build == nil && scalarOps[s.Op.Name()] != nil {
			build = newFloat64Elementwise
		}
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
	return builders[op.Name()] != nil || elementwiseOps[op.Name()] != nil || scalarOps[op.Name()] != nil
}
