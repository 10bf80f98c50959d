package cpu

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Steps on float64, in plain Go.

// float64Elementwise is an elementwise op on float64. A chunk is some elements.
type float64Elementwise struct {
	f      line
	in     []ir.Operand
	walk   [3]ir.Layout
	base   [3]unsafe.Pointer
	direct [3][]float64 // inputs that are read where they are
	out    ir.Operand
	y      []float64
	word   int // -1 without a scalar
	scalar float64
}

func newFloat64Elementwise(_ *Device, s ir.Step) (step, error) {
	f := lineOf(s.Op)
	if f == nil || s.Out[0].DType != ir.Float64 {
		return nil, fmt.Errorf("cpu: there is no kernel for %s of %s", s.Op.Name(), s.Out[0].DType)
	}
	k := &float64Elementwise{f: f, in: s.In, out: s.Out[0], word: -1}
	if _, ok := s.Op.(ir.Dynamic); ok {
		k.word = s.Word
	}
	for i, o := range s.In {
		k.walk[i] = o.BroadcastTo(k.out.Shape).Squeeze()
	}
	return k, nil
}

func (k *float64Elementwise) run(p *program) error {
	k.y = elements[float64](p, k.out)
	for i, o := range k.in {
		k.base[i] = p.memory[o.Slot]
		if o.DType == ir.Float64 && o.Contiguous() && ir.Len(o.Shape) == len(k.y) {
			k.direct[i] = elements[float64](p, o)
		}
	}
	if k.word >= 0 {
		k.scalar = p.scalar(k.word)
	}
	p.device.pool.run((len(k.y)+moveLen-1)/moveLen, k)
	k.y, k.base, k.direct = nil, [3]unsafe.Pointer{}, [3][]float64{}
	return nil
}

func (k *float64Elementwise) work(chunk, _ int) {
	var v [3][256]float64
	end := min((chunk+1)*moveLen, len(k.y))
	for at := chunk * moveLen; at < end; at += len(v[0]) {
		n := min(len(v[0]), end-at)
		in := [3][]float64{v[0][:n], v[1][:n], v[2][:n]}
		for i, o := range k.in {
			if x := k.direct[i]; x != nil {
				in[i] = x[at:][:n]
			} else {
				castTo(in[i], k.base[i], o.DType, k.walk[i], at)
			}
		}
		k.f(k.y[at:][:n], in[0], in[1], in[2], k.scalar)
	}
}

// line computes an elementwise op for elements next to each other. a, b and c are the inputs, s is the scalar.
type line func(y, a, b, c []float64, s float64)

// lineOf returns the function of an op, or nil. The ops of which compositions consist have loops of their own, which
// are several times faster than a call for each element.
func lineOf(op ir.Op) line {
	switch op.(type) {
	case ir.Add:
		return func(y, a, b, _ []float64, _ float64) {
			for i := range y {
				y[i] = a[i] + b[i]
			}
		}
	case ir.Sub:
		return func(y, a, b, _ []float64, _ float64) {
			for i := range y {
				y[i] = a[i] - b[i]
			}
		}
	case ir.Mul:
		return func(y, a, b, _ []float64, _ float64) {
			for i := range y {
				y[i] = a[i] * b[i]
			}
		}
	case ir.Div:
		return func(y, a, b, _ []float64, _ float64) {
			for i := range y {
				y[i] = a[i] / b[i]
			}
		}
	case ir.Square:
		return func(y, a, _, _ []float64, _ float64) {
			for i := range y {
				y[i] = a[i] * a[i]
			}
		}
	case ir.MulScalar:
		return func(y, a, _, _ []float64, s float64) {
			for i := range y {
				y[i] = a[i] * s
			}
		}
	case ir.Where:
		return func(y, a, b, c []float64, _ float64) {
			for i := range y {
				y[i] = where1(a[i] != 0, b[i], c[i])
			}
		}
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

// float64Lines is an op along the middle dimension of [outer, n, inner] of float64; f
// computes an output line, of any length, from an input line.
type float64Lines struct {
	in, out            ir.Operand
	outer, n, m, inner int // m is the length of an output line
	f                  func(out, line []float64)
	x, y               []float64
	per                int // lines per chunk
}

func newFloat64Lines(s ir.Step, from, to, length int, f func(out, line []float64)) step {
	k := &float64Lines{in: s.In[0], out: s.Out[0], f: f, m: length}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, from, to)
	k.per = max(1, rowsPerTask/max(k.n, 1))
	return k
}

func (k *float64Lines) run(p *program) error {
	k.x, k.y = elements[float64](p, k.in), elements[float64](p, k.out)
	p.device.pool.run((k.outer*k.inner+k.per-1)/k.per, k)
	k.x, k.y = nil, nil
	return nil
}

func (k *float64Lines) work(chunk, _ int) {
	const side = 8 // lines that are read together, since their elements are next to each other
	end := min((chunk+1)*k.per, k.outer*k.inner)
	if k.inner == 1 {
		for i := chunk * k.per; i < end; i++ {
			k.f(k.y[i*k.m:][:k.m], k.x[i*k.n:][:k.n])
		}
		return
	}
	lines, out := make([]float64, side*k.n), make([]float64, k.m)
	for i := chunk * k.per; i < end; {
		o, c := i/k.inner, i%k.inner
		width := min(side, k.inner-c, end-i)
		for j := range k.n {
			for t, v := range k.x[(o*k.n+j)*k.inner+c:][:width] {
				lines[t*k.n+j] = v
			}
		}
		for t := range width {
			k.f(out, lines[t*k.n:][:k.n])
			for j, v := range out {
				k.y[(o*k.m+j)*k.inner+c+t] = v
			}
		}
		i += width
	}
}

func sumLine(out, line []float64) {
	var s compensated
	for _, v := range line {
		s.add(v)
	}
	out[0] = s.mean(1)
}

func meanLine(out, line []float64) {
	var s compensated
	for _, v := range line {
		s.add(v)
	}
	out[0] = s.mean(len(line))
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
	x, z, y []float64
	m, n, k int
}

func newFloat64MatMul(s ir.Step) step {
	k := &float64MatMul{matmul: newBatch(s)}
	r := len(s.Out[0].Shape) - 2
	k.m, k.n, k.k = k.out.Shape[r], k.out.Shape[r+1], k.a.Shape[r+1]
	return k
}

func (k *float64MatMul) run(p *program) error {
	k.x, k.z, k.y = from[float64](p, k.a), from[float64](p, k.b), elements[float64](p, k.out)
	p.device.pool.run(k.count*k.m, k)
	k.x, k.z, k.y = nil, nil, nil
	return nil
}

// work computes one row.
func (k *float64MatMul) work(chunk, _ int) {
	batch, i := chunk/k.m, chunk%k.m
	a, b := k.offsets(batch)
	r := len(k.out.Shape) - 2
	y := k.y[chunk*k.n : (chunk+1)*k.n]
	clear(y)
	if k.k == 0 || k.n == 0 {
		return
	}
	across, down := k.a.Stride[r+1], k.b.Stride[r]
	x, step := k.x[a+i*k.a.Stride[r]:], k.b.Stride[r+1]
	switch {
	case step == 1:
		for p := range k.k {
			v, z := x[p*across], k.z[b+p*down:][:k.n]
			for j := range y {
				y[j] += v * z[j]
			}
		}
	case down == 1: // the columns are contiguous
		for j := range y {
			total := 0.0
			for p, z := range k.z[b+j*step:][:k.k] {
				total += x[p*across] * z
			}
			y[j] = total
		}
	default:
		for p := range k.k {
			v, z := x[p*across], k.z[b+p*down:]
			for j := range y {
				y[j] += v * z[j*step]
			}
		}
	}
}
