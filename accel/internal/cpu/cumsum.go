package cpu

import "github.com/quernlab/quern/accel/internal/ir"

var _ = implement[ir.CumSum](newCumSum)
var _ = implement[ir.OneHot](newOneHot)

// cumSum computes sums along the middle dimension of [outer, n, inner], in float64.
type cumSum struct {
	in, out         ir.Operand
	outer, n, inner int
	reverse         bool
	per             int // lines per chunk
	x, y            []float32
}

func newCumSum(_ *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.CumSum)
	n := s.In[0].Shape[op.Axis]
	if s.Out[0].DType == ir.Float64 {
		return newFloat64Lines(s, op.Axis, op.Axis+1, n, func(out, line []float64) {
			total := 0.0
			for i := range line {
				if op.Reverse {
					i = len(line) - 1 - i
				}
				total += line[i]
				out[i] = total
			}
		}), nil
	}
	k := &cumSum{in: s.In[0], out: s.Out[0], reverse: op.Reverse}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.Axis, op.Axis+1)
	k.per = max(1, rowsPerTask/max(n, 1))
	return k, nil
}

func (k *cumSum) run(p *program) error {
	k.x, k.y = elements[float32](p, k.in), elements[float32](p, k.out)
	p.device.pool.run((k.outer*k.inner+k.per-1)/k.per, k)
	k.x, k.y = nil, nil
	return nil
}

func (k *cumSum) work(chunk, _ int) {
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.outer*k.inner); i++ {
		at := i/k.inner*k.n*k.inner + i%k.inner
		total := 0.0
		for j := range k.n {
			if k.reverse {
				j = k.n - 1 - j
			}
			total += float64(k.x[at+j*k.inner])
			k.y[at+j*k.inner] = float32(total)
		}
	}
}

// oneHot writes a 1 for each index.
type oneHot struct {
	in, out ir.Operand
	classes int
}

func newOneHot(_ *Device, s ir.Step) (step, error) {
	return &oneHot{in: s.In[0], out: s.Out[0], classes: s.Op.(ir.OneHot).Classes}, nil
}

func (k *oneHot) run(p *program) error {
	index, y := elements[int32](p, k.in), elements[float32](p, k.out)
	if err := checkIndices("OneHot", index, k.classes); err != nil {
		return err
	}
	clear(y)
	for i, j := range index {
		y[i*k.classes+int(j)] = 1
	}
	return nil
}
