package tensor

import (
	"fmt"
	"math"
	"slices"
)

// statisticsRows are reductions and scans besides those of reduceRows.
func statisticsRows() (rows []opRow) {
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	row := func(name string, nonEmpty bool, f func(*Tensor) *Tensor, ref func(in []array) array) opRow {
		return opRow{name: name, shapes: cube, low: -2, high: 2, nonEmpty: nonEmpty, ref: ref, f: func(in []*Tensor) *Tensor { return f(in[0]) }}
	}
	smallest := func(v []float64) float64 { return slices.Min(v) }
	norm := func(v []float64) float64 {
		s := 0.0
		for _, x := range v {
			s += x * x
		}
		return math.Sqrt(s)
	}
	variance := func(v []float64) float64 { _, s := moments(v); return s }
	running := func(v []float64) []float64 {
		out := slices.Clone(v)
		for i := 1; i < len(out); i++ {
			out[i] += out[i-1]
		}
		return out
	}
	all := func(f func([]float64) float64) func([]array) array {
		return func(in []array) array { return array{[]int{}, []float64{f(in[0].data)}} }
	}
	for a := range 3 {
		rows = append(rows,
			row(fmt.Sprint("Min ", a), true, func(t *Tensor) *Tensor { return t.Min(a) }, foldRef(a, smallest)).like(fmt.Sprintf("torch.amin(a, %d)", a)),
			row(fmt.Sprint("CumSum ", a), false, func(t *Tensor) *Tensor { return t.CumSum(a) }, alongRef(a, running)).like(fmt.Sprintf("torch.cumsum(a, %d)", a)),
			row(fmt.Sprint("Var ", a), true, func(t *Tensor) *Tensor { return t.Var(0, a) }, foldRef(a, variance)).like(fmt.Sprintf("torch.var(a, %d, correction=0)", a)),
			row(fmt.Sprint("Norm ", a), true, func(t *Tensor) *Tensor { return t.Norm(a) }, foldRef(a, norm)).like(fmt.Sprintf("torch.linalg.vector_norm(a, dim=%d)", a)),
			row(fmt.Sprint("LogSumExp ", a), true, func(t *Tensor) *Tensor { return t.LogSumExp(a) }, foldRef(a, logSumExp)).like(fmt.Sprintf("torch.logsumexp(a, %d)", a)))
	}
	std := row("Std", true, func(t *Tensor) *Tensor { return t.AddScalar(1).Mul(t).Std(1) }, all(func(v []float64) float64 {
		w := make([]float64, len(v))
		for i, x := range v {
			w[i] = (x + 1) * x
		}
		return math.Sqrt(variance(w) * float64(len(v)) / float64(len(v)-1))
	}))
	std.shapes = func(m, n, k int) [][]int { return [][]int{{m + 1, n + 1, k}} }
	return append(rows, std, row("Norm all", true, func(t *Tensor) *Tensor { return t.Norm() }, all(norm)))
}
