package cpu

import (
	"reflect"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Linear](newLinear)
var _ = implement[ir.MatMul](newMatMul)

// matmul is a batch of matrix multiplications, or one with a bias.
type matmul struct {
	a, b, bias, out ir.Operand
	linear          bool
	batch           ir.Layout // leading dimensions of a; b's strides are in batchB
	batchB          []int
	count           int
	at              ir.Operand // where the gemm's slope is that of an activation
	gemm            *gemm
}

var _ ir.Sloper = (*Device)(nil)

// MultipliesSlope reports whether a product is multiplied with the slope of an activation while a part of it is in the cache.
func (d *Device) MultipliesSlope(gradient ir.Op, product ir.DType) bool {
	switch gradient.(type) {
	case ir.ReLUGradient, ir.GELUGradient:
		return product == ir.Float32
	}
	return false
}

// Activates returns false: tiles apply ReLU if nothing else reads its argument, see [ir.Linear]. Other activations rather fuse with what
// follows.
func (d *Device) Activates(ir.Op, ir.DType) bool { return false }

func newMatMul(d *Device, s ir.Step) (step, error) {
	if s.Out[0].DType == ir.Float64 {
		return newFloat64MatMul(s), nil
	}
	k := newBatch(s)
	a, b, r := k.a, k.b, len(k.out.Shape)-2
	k.gemm = newGEMM(d, a.Shape[r], b.Shape[r+1], a.Shape[r+1],
		matrix{row: a.Stride[r], col: a.Stride[r+1]}, matrix{row: b.Stride[r], col: b.Stride[r+1]})
	switch s.Epilogue.(type) {
	case nil:
	case ir.ReLU:
		k.gemm.relu = true
	default: // the gradient of an activation
		k.gemm.slope, k.at = elementwiseOps[reflect.TypeOf(s.Epilogue)], s.In[2]
	}
	return &k, nil
}

// newBatch returns the operands with broadcast leading dimensions.
func newBatch(s ir.Step) matmul {
	a, b := s.In[0], s.In[1]
	r := len(s.Out[0].Shape) - 2
	lead := s.Out[0].Shape[:r]
	a.Layout = a.BroadcastTo(append(slices.Clone(lead), a.Shape[len(a.Shape)-2:]...))
	b.Layout = b.BroadcastTo(append(slices.Clone(lead), b.Shape[len(b.Shape)-2:]...))
	k := matmul{a: a, b: b, out: s.Out[0]}
	k.batch = ir.Layout{Shape: a.Shape[:r], Stride: a.Stride[:r]}
	k.batchB = b.Stride[:r]
	k.count = ir.Len(k.batch.Shape)
	return k
}

func newLinear(d *Device, s ir.Step) (step, error) {
	x, w := s.In[0], s.In[1]
	k := &matmul{a: x, b: w, bias: s.In[2], linear: true, out: s.Out[0], count: 1}
	k.gemm = newGEMM(d, x.Shape[0], w.Shape[0], x.Shape[1],
		matrix{row: x.Stride[0], col: x.Stride[1]}, matrix{row: w.Stride[1], col: w.Stride[0]})
	k.gemm.relu = s.Epilogue != nil
	return k, nil
}

func (k *matmul) run(p *program) error {
	g := k.gemm
	a, b, c := from[float32](p, k.a), from[float32](p, k.b), elements[float32](p, k.out)
	if len(c) == 0 {
		return nil
	}
	if k.linear {
		g.bias = k.biasRow(p)
	}
	var x []float32
	if g.slope != nil {
		x = elements[float32](p, k.at)
	}
	each := g.m * g.n
	for i := range k.count {
		atA, atB := k.offsets(i)
		if len(a) > 0 && len(b) > 0 {
			g.a.data, g.b.data = a[atA:], b[atB:]
		}
		g.c = c[i*each : (i+1)*each]
		if g.slope != nil {
			g.argument = x[i*each : (i+1)*each]
		}
		g.run()
	}
	g.a.data, g.b.data, g.c, g.bias, g.argument = nil, nil, nil, nil, nil
	return nil
}

// biasRow returns the bias as contiguous memory.
func (k *matmul) biasRow(p *program) []float32 {
	if k.bias.Contiguous() {
		return elements[float32](p, k.bias)
	}
	row := make([]float32, k.bias.Shape[0])
	gatherAs[float32](row, p.memory[k.bias.Slot], k.bias.Layout, 0)
	return row
}

func (k *matmul) offsets(i int) (a, b int) {
	for d := len(k.batch.Shape) - 1; d >= 0; d-- {
		at := i % k.batch.Shape[d]
		i /= k.batch.Shape[d]
		a += at * k.batch.Stride[d]
		b += at * k.batchB[d]
	}
	return a, b
}
