package tensor

import (
	"fmt"
	"math"
)

func init() {
	nan, inf := math.NaN(), math.Inf(1)
	special := [][]array{{{[]int{2, 2}, []float64{nan, inf, -inf, nan}}}, {{[]int{0, 3}, nil}}, {{[]int{2, 0}, nil}}}
	row := func(name string, diagonal int, f func(*Tensor, int) *Tensor, kept func(right int) bool) opRow {
		return opRow{
			name: fmt.Sprint(name, " ", diagonal), low: -2, high: 2,
			shapes: func(m, n, k int) [][]int { return [][]int{{m, n, k}} },
			f:      func(in []*Tensor) *Tensor { return f(in[0], diagonal) },
			ref: func(in []array) array {
				return build(in[0].shape, func(i []int) float64 {
					if kept(i[2] - i[1]) {
						return in[0].get(i...)
					}
					return 0
				})
			},
			torch: fmt.Sprintf("torch.%s(a, %d)", map[string]string{"Tril": "tril", "Triu": "triu"}[name], diagonal), examples: special,
			invalid: []func(){func() { f(Zeros(3), diagonal) }, func() { f(Ones(), diagonal) }},
		}
	}
	for _, d := range []int{0, 2, -1} {
		addOp(row("Tril", d, (*Tensor).Tril, func(right int) bool { return right <= d }),
			row("Triu", d, (*Tensor).Triu, func(right int) bool { return right >= d }))
	}
	all, none := row("Triu", math.MinInt, (*Tensor).Triu, func(int) bool { return true }), row("Tril", math.MinInt, (*Tensor).Tril, func(int) bool { return false })
	all.torch, none.torch = "", "" // PyTorch's range is smaller
	addOp(all, none)
}
