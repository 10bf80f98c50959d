package cuda

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// whole is a step of one op that is not elementwise: it has kernels of its own.
type opStep struct {
	label  string
	launch launcher
}

// launcher returns the kernels of a step for the addresses of a run.
type launcher func(p *program) ([]kernels.Launch, error)

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

// opBuilders make the launchers of ops, by name. An op that needs a workspace or reports
// faults asks the program for it (needWorkspace, check).
var opBuilders map[string]func(p *program, s ir.Step) launcher

func init() {
	opBuilders = map[string]func(p *program, s ir.Step) launcher{
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
		"Eq":                      compare,
		"Finite":                  finite,
		"IndexSelect":             gather,
		"Greater":                 compare,
		"Index":                   index,
		"LayerNorm":               norm,
		"LayerNormInputGradient":  normInput,
		"LayerNormWeightGradient": normWeight,
		"Linear":                  linear,
		"LogSoftmax":              softmax,
		"MatMul":                  matMul,
		"Max":                     maxAlong,
		"MaxPool2D":               maxPool,
		"MaxPool2DGradient":       maxPoolGradient,
		"OneHot":                  oneHot,
		"Pad":                     pad,
		"RMSNorm":                 norm,
		"RMSNormInputGradient":    normInput,
		"RMSNormWeightGradient":   normWeight,
		"Reshape":                 move,
		"Round8":                  round8,
		"IndexAdd":                scatterAdd,
		"Softmax":                 softmax,
		"Sum":                     sum,
	}
}

func (p *program) newOpStep(s ir.Step) (step, error) {
	build := opBuilders[s.Op.Name()]
	if build == nil {
		return nil, fmt.Errorf("%s: there is no kernel for %s", p.device.name, s.Op.Name())
	}
	w := &opStep{label: label(s), launch: build(p, s)}
	// Sizes that the kernels do not support are rejected now; they do not depend on addresses.
	if _, err := w.launch(p); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.device.name, w.label, err)
	}
	key, candidates := p.libraryCandidates(s, w.label)
	if len(candidates) == 0 {
		return w, nil
	}
	return &selection{step: s, key: key, label: w.label, candidates: append([]step{w}, candidates...), selected: -1}, nil
}

// libraryCandidates returns the algorithms with which libraries can compute a step, and a
// key of what their time depends on.
func (p *program) libraryCandidates(s ir.Step, label string) (key any, candidates []step) {
	switch s.Op.(type) {
	case ir.MatMul, ir.Linear:
		if s.In[0].DType.IsFP8() {
			return p.fp8Candidates(s, label)
		}
	}
	switch s.Op.(type) {
	case ir.MatMul:
		lead := s.Out[0].Shape[:len(s.Out[0].Shape)-2]
		return p.matmulCandidates(matmulTensors{a: broadcast(s.In[0], lead), b: broadcast(s.In[1], lead), y: s.Out[0], relu: endsWithReLU(s)}, ir.Operand{}, label)
	case ir.Linear:
		return p.matmulCandidates(matmulTensors{a: s.In[0], b: transpose(s.In[1]), y: s.Out[0], bias: true, relu: endsWithReLU(s)}, s.In[2], label)
	case ir.Conv2D, ir.Conv2DInputGradient, ir.Conv2DWeightGradient:
		return p.convCandidates(s, label)
	}
	return nil, nil
}

// needWorkspace makes the program's workspace large enough for a step.
func (p *program) needWorkspace(bytes int) { p.workspace = max(p.workspace, bytes) }

// check adds a fault that a step may report, and returns its index; explain turns what
// the step wrote into an error.
func (p *program) check(why explain) (number int) {
	p.explains = append(p.explains, why)
	return len(p.explains) - 1
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
