package tensor

import (
	"math"
	"math/rand/v2"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// array is a row-major tensor in float64. The reference implementations below are written for
// clarity, index by index.
type array struct {
	shape []int
	data  []float64
}

func newArray(shape ...int) array {
	return array{append([]int{}, shape...), make([]float64, ir.Len(shape))}
}

// each calls f with every index of a shape.
func each(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	for range ir.Len(shape) {
		f(index)
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
}

// at returns the offset of an index, which is shortened and clamped to broadcast.
func (a array) at(index []int) int {
	index = index[len(index)-len(a.shape):]
	p := 0
	for d, n := range a.shape {
		i := index[d]
		if n == 1 {
			i = 0
		}
		p = p*n + i
	}
	return p
}

func (a array) get(index ...int) float64 { return a.data[a.at(index)] }

func build(shape []int, f func(index []int) float64) array {
	out := newArray(shape...)
	i := 0
	each(shape, func(index []int) {
		out.data[i] = f(index)
		i++
	})
	return out
}

func mapRef(f func(x float64) float64) func(in []array) array {
	return func(in []array) array {
		return build(in[0].shape, func(i []int) float64 { return f(in[0].get(i...)) })
	}
}

func zipRef(f func(a, b float64) float64) func(in []array) array {
	return func(in []array) array {
		shape, ok := ir.Broadcast(in[0].shape, in[1].shape)
		if !ok {
			panic("reference: shapes do not broadcast")
		}
		return build(shape, func(i []int) float64 { return f(in[0].get(i...), in[1].get(i...)) })
	}
}

func without(shape []int, axis int) []int {
	return append(append([]int{}, shape[:axis]...), shape[axis+1:]...)
}

func insert(index []int, axis, v int) []int {
	return append(append(append([]int{}, index[:axis]...), v), index[axis:]...)
}

func foldRef(axis int, f func(values []float64) float64) func(in []array) array {
	return func(in []array) array {
		x := in[0]
		return build(without(x.shape, axis), func(i []int) float64 {
			values := make([]float64, x.shape[axis])
			for k := range values {
				values[k] = x.get(insert(i, axis, k)...)
			}
			return f(values)
		})
	}
}

// alongRef applies f to each line along an axis.
func alongRef(axis int, f func(line []float64) []float64) func(in []array) array {
	return func(in []array) array {
		x, out := in[0], newArray(in[0].shape...)
		each(without(x.shape, axis), func(rest []int) {
			line := make([]float64, x.shape[axis])
			for k := range line {
				line[k] = x.get(insert(rest, axis, k)...)
			}
			for k, v := range f(line) {
				out.data[out.at(insert(rest, axis, k))] = v
			}
		})
		return out
	}
}

func total(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

func largest(v []float64) float64 {
	m := math.Inf(-1)
	for _, x := range v {
		m = math.Max(m, x)
	}
	return m
}

func logSumExp(v []float64) float64 {
	m := largest(v)
	s := 0.0
	for _, x := range v {
		s += math.Exp(x - m)
	}
	return m + math.Log(s)
}

func softmaxLine(v []float64) []float64 {
	out := logSoftmaxLine(v)
	for i, x := range out {
		out[i] = math.Exp(x)
	}
	return out
}

func logSoftmaxLine(v []float64) []float64 {
	out := make([]float64, len(v))
	sum := logSumExp(v)
	for i, x := range v {
		out[i] = x - sum
	}
	return out
}

// matmulRef multiplies batches whose leading dimensions broadcast.
func matmulRef(in []array) array {
	a, b := in[0], in[1]
	r, q := len(a.shape), len(b.shape)
	lead, ok := ir.Broadcast(a.shape[:r-2], b.shape[:q-2])
	if !ok {
		panic("reference: shapes do not broadcast")
	}
	n := len(lead)
	return build(append(lead, a.shape[r-2], b.shape[q-1]), func(i []int) float64 {
		s := 0.0
		for k := range a.shape[r-1] {
			s += a.entry(i[:n], i[n], k) * b.entry(i[:n], k, i[n+1])
		}
		return s
	})
}

// entry returns an element of one matrix of a batch; the batch index broadcasts.
func (a array) entry(batch []int, i, j int) float64 {
	n := len(a.shape) - 2
	m := array{shape: a.shape[:n]}
	return a.data[(m.at(batch)*a.shape[n]+i)*a.shape[n+1]+j]
}

func linearRef(in []array) array {
	x, w, b := in[0], in[1], in[2]
	return build([]int{x.shape[0], w.shape[0]}, func(i []int) float64 {
		s := b.get(i[1])
		for k := range x.shape[1] {
			s += x.get(i[0], k) * w.get(i[1], k)
		}
		return s
	})
}

func permuteRef(perm ...int) func(in []array) array {
	return func(in []array) array {
		shape := make([]int, len(perm))
		for i, p := range perm {
			shape[i] = in[0].shape[p]
		}
		return build(shape, func(i []int) float64 {
			from := make([]int, len(perm))
			for d, p := range perm {
				from[p] = i[d]
			}
			return in[0].get(from...)
		})
	}
}

func normalRef(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// randomArray returns values that float32 represents exactly, so that tensor and reference start
// from the same values.
func randomArray(r *rand.Rand, low, high float64, shape ...int) array {
	a := newArray(shape...)
	for i := range a.data {
		a.data[i] = float64(float32(low + (high-low)*r.Float64()))
	}
	return a
}

func (a array) floats() []float32 {
	out := make([]float32, len(a.data))
	for i, v := range a.data {
		out[i] = float32(v)
	}
	return out
}
