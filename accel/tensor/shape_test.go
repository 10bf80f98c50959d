package tensor

import (
	"fmt"
	"math"
	"testing"
)

// TestGradientOfSlices slices a value in any order, with gaps, repeatedly and with overlaps; each
// element's gradient is the sum of its weights.
func TestGradientOfSlices(t *testing.T) {
	for _, parts := range [][][2]int{
		{{0, 2}, {2, 5}, {5, 6}}, {{5, 6}, {2, 5}, {0, 2}}, {{2, 5}, {0, 2}}, {{0, 2}, {4, 6}}, {{0, 4}, {2, 6}}, {{0, 3}, {0, 3}, {3, 6}}, {{1, 2}, {2, 3}}, {{0, 0}, {0, 6}},
	} {
		for axis, shape := range [][]int{{6, 2, 3}, {2, 6, 3}, {3, 2, 6}} {
			x := Parameter(Ones(shape...))
			want := make([]float32, 36)
			var sum *Tensor
			for i, p := range parts {
				part := x.Slice(axis, p[0], p[1]).MulScalar(float64(i + 1)).Sum()
				if sum == nil {
					sum = part
				} else {
					sum = sum.Add(part)
				}
				inner := 1
				for _, d := range shape[axis+1:] {
					inner *= d
				}
				for at := range want {
					if k := at / inner % 6; k >= p[0] && k < p[1] {
						want[at] += float32(i + 1)
					}
				}
			}
			sum.Backward()
			for at, g := range x.Grad().Data() {
				if g != want[at] {
					t.Fatalf("parts %v of axis %d: gradient %d is %v, want %v", parts, axis, at, g, want[at])
				}
			}
		}
	}
}

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
