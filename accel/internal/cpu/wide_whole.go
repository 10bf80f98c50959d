package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// wideWhole is a whole-tensor op of float64, written for clarity: one chunk
// computes a part of the output that no other one touches.
type wideWhole struct {
	step   ir.Step
	chunks int
	part   func(k *wideWhole, chunk int)

	in    [][]float64 // nil for an input of another type
	out   []float64   // nil for an output of another type
	index []int32     // the input of type int32
	place []int32     // the output of type int32
	// check looks at the inputs before anything is computed; it may be nil.
	check func(k *wideWhole) error
}

// wideWholes are the whole-tensor ops of float64, by name, that wide.go has not.
var wideWholes map[string]func(s ir.Step) *wideWhole

func init() {
	wideWholes = map[string]func(s ir.Step) *wideWhole{
		"ArgMax":                  wideArgMax,
		"Attention":               wideAttention,
		"AttentionGradient":       wideAttentionGradient,
		"AvgPool2D":               wideAvgPool,
		"AvgPool2DGradient":       wideAvgPoolGradient,
		"BatchNorm":               wideBatchNorm,
		"BatchNormInputGradient":  wideBatchNormInput,
		"BatchNormSums":           wideBatchNormSums,
		"BatchStatistics":         wideBatchStatistics,
		"Conv2D":                  wideConv,
		"Conv2DInputGradient":     wideConvInput,
		"Conv2DWeightGradient":    wideConvWeight,
		"CrossEntropy":            wideCrossEntropy,
		"CrossEntropyGradient":    wideCrossEntropyGradient,
		"LayerNorm":               wideNorm,
		"LayerNormInputGradient":  wideNormInput,
		"LayerNormWeightGradient": wideNormWeight,
		"MaxPool2D":               wideMaxPool,
		"MaxPool2DGradient":       wideMaxPoolGradient,
		"RMSNorm":                 wideNorm,
		"RMSNormInputGradient":    wideNormInput,
		"RMSNormWeightGradient":   wideNormWeight,
	}
}

func (k *wideWhole) run(p *program) error {
	k.in = make([][]float64, len(k.step.In))
	for i, o := range k.step.In {
		switch o.DType {
		case ir.Float64:
			k.in[i] = elements[float64](p, o)
		case ir.Int32:
			k.index = elements[int32](p, o)
		}
	}
	if o := k.step.Out[0]; o.DType == ir.Float64 {
		k.out = elements[float64](p, o)
	} else {
		k.place = elements[int32](p, o)
	}
	defer func() { k.in, k.out, k.index, k.place = nil, nil, nil, nil }()
	if k.check != nil {
		if err := k.check(k); err != nil {
			return err
		}
	}
	p.device.pool.run(k.chunks, k)
	return nil
}

func (k *wideWhole) work(chunk, _ int) { k.part(k, chunk) }

// wideArgMax finds the first largest element of each line.
func wideArgMax(s ir.Step) *wideWhole {
	axis := s.Op.(ir.ArgMax).Axis
	outer, n, inner := axes(s.In[0].Shape, axis, axis+1)
	return &wideWhole{step: s, chunks: outer * inner, part: func(k *wideWhole, i int) {
		x := k.in[0][i/inner*n*inner+i%inner:]
		best, at := x[0], 0
		for j := 1; j < n && best == best; j++ {
			if v := x[j*inner]; v > best || v != v {
				best, at = v, j
			}
		}
		k.place[i] = int32(at)
	}}
}

// wideCrossEntropy is the mean of the rows' losses, in one chunk.
func wideCrossEntropy(s ir.Step) *wideWhole {
	rows, classes := s.In[0].Shape[0], s.In[0].Shape[1]
	log := softmaxLine(true)
	return &wideWhole{step: s, chunks: 1, check: checkLabels(classes), part: func(k *wideWhole, _ int) {
		losses, line := make([]float64, rows), make([]float64, classes)
		for i, label := range k.index {
			log(line, k.in[0][i*classes:(i+1)*classes])
			losses[i] = -line[label]
		}
		sumLine(k.out, losses)
		k.out[0] /= float64(rows)
	}}
}

// wideCrossEntropyGradient is (softmax - one-hot)·dy/N, one chunk a row.
func wideCrossEntropyGradient(s ir.Step) *wideWhole {
	rows, classes := s.In[0].Shape[0], s.In[0].Shape[1]
	softmax := softmaxLine(false)
	return &wideWhole{step: s, chunks: rows, check: checkLabels(classes), part: func(k *wideWhole, i int) {
		y := k.out[i*classes : (i+1)*classes]
		softmax(y, k.in[0][i*classes:(i+1)*classes])
		y[k.index[i]]--
		for j := range y {
			y[j] *= k.in[2][0] / float64(rows)
		}
	}}
}

func checkLabels(classes int) func(k *wideWhole) error {
	return func(k *wideWhole) error { return checkIndices("CrossEntropy", k.index, classes) }
}
