package tensor

import (
	"fmt"
	"math"
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

// TestFloat64OfWeights requires that what ops compute on the host for float64 tensors, weights of an interpolation and numbers of
// rows, is not rounded to float32. The values are PyTorch's.
func TestFloat64OfWeights(t *testing.T) {
	x := Parameter(FromFloat64s([]float64{0, 1, 3}, 1, 1, 1, 3))
	logits := Parameter(FromFloat64s([]float64{0, 1, 2, 0, 3, 1, 0.5, 0, 1, 1, 2, 0}, 4, 3))
	labels := FromInts([]int{0, 2, 9, 1}, 4)
	upsampled := UpsampleBilinear(x, 3)
	loss := MaskedCrossEntropy(logits, labels, 9)
	upsampled.Sum().Add(loss).Backward()
	third := 1. / 3
	for _, row := range []struct {
		name      string
		got, want []float64
	}{
		{"UpsampleBilinear", upsampled.Slice(2, 0, 1).Reshape(-1).Float64s(), []float64{0, 0, third, 2 * third, 1, 1 + 2*third, 2 + third, 3, 3}},
		{"its gradient", x.Grad().Float64s(), []float64{9, 9, 9}},
		{"MaskedCrossEntropy", loss.Float64s(), []float64{(math.Log(1+math.E+math.E*math.E) + math.Log(1+math.Exp(3)+math.E) - 1 + math.Log(math.E+math.E*math.E+1) - 2) / 3}},
		{"a row of its gradient", logits.Grad().Float64s()[:3], []float64{
			(1/(1+math.E+math.E*math.E) - 1) / 3, math.E / (1 + math.E + math.E*math.E) / 3, math.E * math.E / (1 + math.E + math.E*math.E) / 3}},
	} {
		for i, want := range row.want {
			if got := row.got[i]; math.Abs(got-want) > 1e-14 {
				t.Errorf("element %d of %s is %v, want %v", i, row.name, got, want)
			}
		}
	}
}
