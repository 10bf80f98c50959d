package cpu

import "github.com/quernlab/quern/accel/internal/ir"

// float64Op is a whole-tensor op on float64, written for clarity: one chunk computes a part
// of the output that no other chunk writes.
type float64Op struct {
	step   ir.Step
	chunks int
	part   func(k *float64Op, chunk int)

	in      [][]float64 // nil for an input of another type
	out     []float64   // nil for an output of another type
	index   []int32     // the input of type int32
	indices []int32     // the output of type int32
	// check validates the inputs before the computation; it may be nil.
	check func(k *float64Op) error
}

func (k *float64Op) run(p *program) error {
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
		k.indices = elements[int32](p, o)
	}
	defer func() { k.in, k.out, k.index, k.indices = nil, nil, nil, nil }()
	if k.check != nil {
		if err := k.check(k); err != nil {
			return err
		}
	}
	p.device.pool.run(k.chunks, k)
	return nil
}

func (k *float64Op) work(chunk, _ int) { k.part(k, chunk) }

// float64ArgMax finds the first largest element of each line.
func float64ArgMax(s ir.Step) *float64Op {
	axis := s.Op.(ir.ArgMax).Axis
	outer, n, inner := axes(s.In[0].Shape, axis, axis+1)
	return &float64Op{step: s, chunks: outer * inner, part: func(k *float64Op, i int) {
		x := k.in[0][i/inner*n*inner+i%inner:]
		best, at := x[0], 0
		for j := 1; j < n && best == best; j++ {
			if v := x[j*inner]; v > best || v != v {
				best, at = v, j
			}
		}
		k.indices[i] = int32(at)
	}}
}

// float64CrossEntropy computes the mean of the rows' losses, in one chunk.
func float64CrossEntropy(s ir.Step) *float64Op {
	rows, classes := s.In[0].Shape[0], s.In[0].Shape[1]
	log, op := softmaxLine(true), s.Op.(ir.CrossEntropy)
	return &float64Op{step: s, chunks: 1, check: checkLabels(op, classes), part: func(k *float64Op, _ int) {
		losses, line := make([]float64, rows), make([]float64, classes)
		for i, label := range k.index {
			if op.Skips(label) {
				continue
			}
			log(line, k.in[0][i*classes:(i+1)*classes])
			losses[i] = -line[label]
		}
		meanLine(k.out, losses)
	}}
}

// float64CrossEntropyGradient computes (softmax - one-hot)·dy/N, one row per chunk.
func float64CrossEntropyGradient(s ir.Step) *float64Op {
	rows, classes := s.In[0].Shape[0], s.In[0].Shape[1]
	softmax, op := softmaxLine(false), s.Op.(ir.CrossEntropyGradient).CrossEntropy
	return &float64Op{step: s, chunks: rows, check: checkLabels(op, classes), part: func(k *float64Op, i int) {
		y := k.out[i*classes : (i+1)*classes]
		if op.Skips(k.index[i]) {
			clear(y)
			return
		}
		softmax(y, k.in[0][i*classes:(i+1)*classes])
		y[k.index[i]]--
		for j := range y {
			y[j] *= k.in[2][0] / float64(rows)
		}
	}}
}

func checkLabels(op ir.CrossEntropy, classes int) func(k *float64Op) error {
	return func(k *float64Op) error { return checkClasses(op, k.index, classes) }
}
