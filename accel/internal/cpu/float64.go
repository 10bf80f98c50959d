package cpu

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Steps on float64, in plain Go.

// newFloat64Elementwise returns a step for an elementwise op on float64. A chunk is some elements.
func newFloat64Elementwise(_ *Device, s ir.Step) (step, error) {
	f := lineOf(s.Op)
	if f == nil || s.Out[0].DType != ir.Float64 {
		return nil, fmt.Errorf("cpu: there is no kernel for %s of %s", s.Op.Name(), s.Out[0].DType)
	}
	_, dynamic := s.Op.(ir.Dynamic)
	var walk [3]ir.Layout
	for i, o := range s.In {
		walk[i] = o.BroadcastTo(s.Out[0].Shape).Squeeze()
	}
	return stepFunc(func(p *program) error {
		y := elements[float64](p, s.Out[0])
		var direct [3][]float64 // inputs that are read where they are
		for i, o := range s.In {
			if o.DType == ir.Float64 && o.Contiguous() && ir.Len(o.Shape) == len(y) {
				direct[i] = elements[float64](p, o)
			}
		}
		scalar := 0.0
		if dynamic {
			scalar = p.scalar(s.Word)
		}
		p.device.pool.split(len(y), moveLen, func(at, end, _ int) {
			var v [3][256]float64
			for ; at < end; at += len(v[0]) {
				n := min(len(v[0]), end-at)
				in := [3][]float64{v[0][:n], v[1][:n], v[2][:n]}
				for i, o := range s.In {
					if x := direct[i]; x != nil {
						in[i] = x[at:][:n]
					} else {
						castTo(in[i], p.memory[o.Slot], o.DType, walk[i], at)
					}
				}
				f(y[at:][:n], in[0], in[1], in[2], scalar)
			}
		})
		return nil
	}), nil
}

// line computes an elementwise op for elements next to each other. a, b and c are the inputs, s is the scalar.
type line func(y, a, b, c []float64, s float64)

// lineOf returns the function of an op, or nil. The ops of which compositions consist have loops of their own, which
// are several times faster than a call for each element.
func lineOf(op ir.Op) line {
	switch op.(type) {
	case ir.Add:
		return func(y, a, b, _ []float64, _ float64) { addGeneric(y, a, b) }
	case ir.Sub:
		return func(y, a, b, _ []float64, _ float64) { subGeneric(y, a, b) }
	case ir.Mul:
		return func(y, a, b, _ []float64, _ float64) { mulGeneric(y, a, b) }
	case ir.Div:
		return func(y, a, b, _ []float64, _ float64) { divGeneric(y, a, b) }
	case ir.Square:
		return func(y, a, _, _ []float64, _ float64) { mulGeneric(y, a, a) }
	case ir.MulScalar:
		return func(y, a, _, _ []float64, s float64) { mulScalarGeneric(y, a, s) }
	case ir.Where:
		return func(y, a, b, c []float64, _ float64) { where(y, a, b, c) }
	}
	f := scalarOf(op)
	if f == nil {
		return nil
	}
	return func(y, a, b, c []float64, s float64) {
		for i := range y {
			y[i] = f(a[i], b[i], c[i], s)
		}
	}
}

// float64Sum returns a step that sums over the middle dimension of [outer, n, inner] of float64, or computes the means.
func float64Sum(s ir.Step, op ir.Sum) stepFunc {
	outer, n, inner := axes(s.In[0].Shape, op.From, op.To)
	count := 1
	if op.Mean {
		count = n
	}
	return func(p *program) error {
		x, y := elements[float64](p, s.In[0]), elements[float64](p, s.Out[0])
		p.device.pool.split(outer*inner, max(1, rowsPerTask/max(n, 1)), func(i, end, _ int) {
			for ; inner == 1 && i < end; i++ {
				var s compensated
				for _, v := range x[i*n:][:n] {
					s.add(v)
				}
				y[i] = s.mean(count)
			}
			for i < end {
				var sums [8]compensated // of columns, whose elements are next to each other
				o, c := i/inner, i%inner
				width := min(len(sums), inner-c, end-i)
				for j := range n {
					for t, v := range x[(o*n+j)*inner+c:][:width] {
						sums[t].add(v)
					}
				}
				for t := range width {
					y[i+t] = sums[t].mean(count)
				}
				i += width
			}
		})
		return nil
	}
}

// compensated is a compensated sum (Neumaier, ZAMM 54(1), 1974), with the rounding errors of Knuth's TwoSum, which
// needs no branch.
type compensated struct{ sum, low float64 }

func (s *compensated) add(v float64) {
	t := s.sum + v
	of := t - s.sum // what t has of v
	s.low += (s.sum - (t - of)) + (v - of)
	s.sum = t
}

// mean returns the sum divided by n, rounded once, so that the mean of equal numbers is the number.
func (s compensated) mean(n int) float64 {
	by := float64(n)
	quotient := s.sum / by
	if math.IsInf(s.sum, 0) || math.IsNaN(quotient) {
		return quotient
	}
	return quotient + (math.FMA(-quotient, by, s.sum)+s.low)/by
}

// float64MatMul is a batch of matrix multiplications in float64.
type float64MatMul struct {
	matmul
	m, n, k int
}

func newFloat64MatMul(s ir.Step) step {
	k := &float64MatMul{matmul: newBatch(s)}
	r := len(s.Out[0].Shape) - 2
	k.m, k.n, k.k = k.out.Shape[r], k.out.Shape[r+1], k.a.Shape[r+1]
	return k
}

func (k *float64MatMul) run(p *program) error {
	x, z, y := from[float64](p, k.a), from[float64](p, k.b), elements[float64](p, k.out)
	p.device.pool.each(k.count*k.m, func(row, _ int) {
		y := y[row*k.n : (row+1)*k.n]
		clear(y)
		if k.k > 0 && k.n > 0 {
			a, b := k.offsets(row / k.m)
			k.row(y, x[a+row%k.m*k.a.Stride[len(k.out.Shape)-2]:], z[b:])
		}
	})
	return nil
}

// row computes a row of y, which is zero, from the row x and the matrix m.
func (k *float64MatMul) row(y, x, m []float64) {
	r := len(k.out.Shape) - 2
	across, down, step := k.a.Stride[r+1], k.b.Stride[r], k.b.Stride[r+1]
	switch {
	case step == 1:
		for p := range k.k {
			v, z := x[p*across], m[p*down:][:k.n]
			for j := range y {
				y[j] += v * z[j]
			}
		}
	case down == 1: // the columns are contiguous
		for j := range y {
			total := 0.0
			for p, z := range m[j*step:][:k.k] {
				total += x[p*across] * z
			}
			y[j] = total
		}
	default:
		for p := range k.k {
			v, z := x[p*across], m[p*down:]
			for j := range y {
				y[j] += v * z[j*step]
			}
		}
	}
}
