package cpu

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Steps on float64, in plain Go.

// float64Elementwise is an elementwise op on float64. A chunk is some elements.
type float64Elementwise struct {
	f      scalar
	in     []ir.Operand
	walk   [3]ir.Layout
	base   [3]unsafe.Pointer
	out    ir.Operand
	y      []float64
	word   int // -1 without a scalar
	scalar float64
}

func newFloat64Elementwise(_ *Device, s ir.Step) (step, error) {
	f := scalarOf(s.Op)
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
	}
	if k.word >= 0 {
		k.scalar = p.scalar(k.word)
	}
	p.device.pool.run((len(k.y)+moveLen-1)/moveLen, k)
	k.y, k.base = nil, [3]unsafe.Pointer{}
	return nil
}

func (k *float64Elementwise) work(chunk, _ int) {
	var v [3][256]float64
	end := min((chunk+1)*moveLen, len(k.y))
	for at := chunk * moveLen; at < end; at += len(v[0]) {
		n := min(len(v[0]), end-at)
		for i, o := range k.in {
			castTo(v[i][:n], k.base[i], o.DType, k.walk[i], at)
		}
		for i := range n {
			k.y[at+i] = k.f(v[0][i], v[1][i], v[2][i], k.scalar)
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
	line, out := make([]float64, k.n), make([]float64, k.m)
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.outer*k.inner); i++ {
		o, c := i/k.inner, i%k.inner
		for j := range line {
			line[j] = k.x[(o*k.n+j)*k.inner+c]
		}
		k.f(out, line)
		for j, v := range out {
			k.y[(o*k.m+j)*k.inner+c] = v
		}
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

// compensated is a compensated sum (Neumaier, ZAMM 54(1), 1974).
type compensated struct{ sum, low float64 }

func (s *compensated) add(v float64) {
	t := s.sum + v
	if math.Abs(s.sum) >= math.Abs(v) {
		s.low += (s.sum - t) + v
	} else {
		s.low += (v - t) + s.sum
	}
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

func maxLine(out, line []float64) {
	out[0] = line[0]
	for _, v := range line[1:] {
		out[0] = max(out[0], v)
	}
}

func softmaxLine(log bool) func(out, line []float64) {
	return func(out, line []float64) {
		if len(line) == 0 {
			return
		}
		top, total := []float64{0}, 0.0
		maxLine(top, line)
		for i, v := range line {
			out[i] = math.Exp(v - top[0])
			total += out[i]
		}
		for i, v := range line {
			if out[i] /= total; log {
				out[i] = v - top[0] - math.Log(total)
			}
		}
	}
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
	for p := range k.k {
		x := k.x[a+i*k.a.Stride[r]+p*k.a.Stride[r+1]]
		at := b + p*k.b.Stride[r]
		for j := range y {
			y[j] += x * k.z[at+j*k.b.Stride[r+1]]
		}
	}
}
