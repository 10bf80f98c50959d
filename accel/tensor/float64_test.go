package tensor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// broadcastSizes are the sizes m, n and k of TestFloat64.
var broadcastSizes = [][3]int{{2, 3, 4}, {1, 1, 1}, {5, 1, 3}, {0, 3, 2}}

// TestFloat64 tests every op and its gradient in float64.
func TestFloat64(t *testing.T) {
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range broadcastSizes {
				if row.nonEmpty && s[0] == 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 17))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				for _, l := range layoutsOf(s) {
					float64Row(t, row, in, l, r, fmt.Sprintf("%s, sizes %v", l.name, s))
				}
			}
		})
	}
}

// float64Row tests one op with inputs in one memory layout.
func float64Row(t *testing.T, row opRow, in []array, l layout, r *rand.Rand, ctx string) {
	t.Helper()
	var leaves, args []*Tensor
	for _, a := range in {
		leaf, x := l.lay(a)
		if row.noGrad {
			x = x.Cast(Float64)
		} else { // a float64 leaf, so that the gradient is not rounded
			leaf64 := Parameter(leaf.Detach().Cast(Float64))
			leaf, x = leaf64, l.input(leaf64, len(a.shape))
		}
		leaves, args = append(leaves, leaf), append(args, x)
	}
	y := row.f(args)
	compare(t, ctx, y, row.ref(in), 1e-12)
	if row.noGrad || y.Numel() == 0 {
		return
	}
	if y.DType() != Float64 {
		t.Fatalf("%s: the result is %s", ctx, y.DType())
	}
	weight, want := numericalGradients(row.ref, in, r)
	y.Mul(FromFloat64s(weight.data, weight.shape...)).Sum().Backward()
	for j, a := range in {
		if g := leaves[j].Grad(); g != nil {
			if g.DType() != Float64 {
				t.Fatalf("%s, input %d: the gradient is %s", ctx, j, g.DType())
			}
			compareGradient(t, fmt.Sprintf("%s, input %d", ctx, j), l.back(g, len(a.shape)), want[j], 1e-8)
		} else if largest(absolute(want[j].data)) > 0 {
			t.Fatalf("%s, input %d: no gradient", ctx, j)
		}
	}
}
