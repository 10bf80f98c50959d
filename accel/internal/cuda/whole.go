package cuda

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// whole is a step of one op that is no loop.
type whole struct {
	label  string
	launch launcher
}

// launcher gives the kernels of a step for the addresses of a run.
type launcher func(p *program) ([]kernels.Launch, error)

func (w *whole) launches(p *program) ([]launch, error) {
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

// builders make the steps of ops, by name. What an op needs besides its operands it
// asks the program for: room, and checks.
var builders map[string]func(p *program, s ir.Step) launcher

func init() {
	builders = map[string]func(p *program, s ir.Step) launcher{
		"ArgMax":                  argMax,
		"Attention":               attention,
		"AttentionGradient":       attentionGradient,
		"AvgPool2D":               avgPool,
		"AvgPool2DGradient":       avgPoolGradient,
		"BatchNorm":               batchNorm,
		"BatchNormInputGradient":  batchNormInput,
		"BatchNormSums":           batchNormSums,
		"BatchStatistics":         batchStatistics,
		"Bernoulli":               bernoulli,
		"Cast":                    cast,
		"Concat":                  concat,
		"Conv2D":                  conv2D,
		"Conv2DInputGradient":     conv2DInput,
		"Conv2DWeightGradient":    conv2DWeight,
		"Copy":                    move,
		"CrossEntropy":            crossEntropy,
		"CrossEntropyGradient":    crossEntropyGradient,
		"CumSum":                  cumSum,
		"Equal":                   compare,
		"Finite":                  finite,
		"Gather":                  gather,
		"Greater":                 compare,
		"Index":                   index,
		"LayerNorm":               norm,
		"LayerNormInputGradient":  normInput,
		"LayerNormWeightGradient": normWeight,
		"Linear":                  linear,
		"LogSoftmax":              softmax,
		"MatMul":                  matMul,
		"Max":                     largest,
		"MaxPool2D":               maxPool,
		"MaxPool2DGradient":       maxPoolGradient,
		"OneHot":                  oneHot,
		"Pad":                     pad,
		"RMSNorm":                 norm,
		"RMSNormInputGradient":    normInput,
		"RMSNormWeightGradient":   normWeight,
		"Reshape":                 move,
		"Round8":                  round8,
		"ScatterAdd":              scatterAdd,
		"Softmax":                 softmax,
		"Sum":                     sum,
	}
}

func (p *program) newWhole(s ir.Step) (step, error) {
	build := builders[s.Op.Name()]
	if build == nil {
		return nil, fmt.Errorf("%s: there is no kernel for %s", p.device.name, s.Op.Name())
	}
	w := &whole{label: label(s), launch: build(p, s)}
	// Sizes that no kernel can do are known without addresses.
	if _, err := w.launch(p); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.device.name, w.label, err)
	}
	kind, ways := p.alternatives(s, w.label)
	if len(ways) == 0 {
		return w, nil
	}
	return &choice{step: s, kind: kind, label: w.label, ways: append([]step{w}, ways...), taken: -1}, nil
}

// alternatives are the ways in which libraries do a step, and what the time that
// they take depends on.
func (p *program) alternatives(s ir.Step, label string) (kind any, ways []step) {
	switch s.Op.(type) {
	case ir.MatMul, ir.Linear:
		if s.In[0].DType.Eight() {
			return p.eightMultiplications(s, label)
		}
	}
	switch s.Op.(type) {
	case ir.MatMul:
		lead := s.Out[0].Shape[:len(s.Out[0].Shape)-2]
		return p.multiplications(factors{a: broadcast(s.In[0], lead), b: broadcast(s.In[1], lead), y: s.Out[0], relu: relu(s)}, ir.Operand{}, label)
	case ir.Linear:
		return p.multiplications(factors{a: s.In[0], b: turned(s.In[1]), y: s.Out[0], bias: true, relu: relu(s)}, s.In[2], label)
	case ir.Conv2D, ir.Conv2DInputGradient, ir.Conv2DWeightGradient:
		return p.convolutions(s, label)
	}
	return nil, nil
}

// room asks for room that lasts for one step.
func (p *program) room(bytes int) { p.workspace = max(p.workspace, bytes) }

// check asks for a place where a step reports what is wrong with its data.
func (p *program) check(why explain) (number int) {
	p.explains = append(p.explains, why)
	return len(p.explains) - 1
}

// indices explains an index that is out of range.
func indices(op string, size int) explain {
	return func(fault uint64, _ int64) error {
		if _, what, wrong := kernels.Fault(fault); wrong {
			return &ir.IndexError{Op: op, Index: int(what), Size: size}
		}
		return nil
	}
}

// three splits a shape around some dimensions.
func three(shape []int, from, to int) (outer, n, inner int) {
	return ir.Len(shape[:from]), ir.Len(shape[from:to]), ir.Len(shape[to:])
}

// rows splits a shape before its last dimension.
func rows(shape []int) (rows, n int) {
	last := len(shape) - 1
	return ir.Len(shape[:last]), shape[last]
}
