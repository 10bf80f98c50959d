package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// largestDistance returns the largest distance of elements of two tensors, relative to the largest of the second.
func largestDistance(t *testing.T, what string, got, want *Tensor) float64 {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s has the shape %v, want %v", what, got.Shape(), want.Shape())
	}
	scale := max(1, want.Abs().Max().Item())
	return got.Sub(want).Abs().Max().Item() / scale
}

// TestRepeatedMatrices multiplies matrices whose rows or columns are repeated, as those that Expand and the gradients of sums
// return, and compares with copies of them.
func TestRepeatedMatrices(t *testing.T) {
	g := NewGenerator(1)
	expanded := func(repeated bool, axis int, shape ...int) *Tensor {
		from := slices.Clone(shape)
		if repeated {
			from[len(from)-2+axis] = 1
		}
		return Randn(g, from...).Expand(shape...)
	}
	copied := func(x *Tensor) *Tensor { return New(x.Data(), x.Shape()...) }
	for _, m := range []int{1, 2, 5, 16, 33} {
		for _, k := range []int{1, 2, 7, 64} {
			for _, n := range []int{1, 3, 8, 16, 32, 48, 64} {
				for which := range 6 {
					name := fmt.Sprintf("[%d %d]·[%d %d], operands %d repeated along axis %d", m, k, k, n, which%3+1, which/3)
					a, b := expanded(which%3 != 1, which/3, m, k), expanded(which%3 != 0, which/3, k, n)
					want := copied(a).MatMul(copied(b))
					for op, got := range map[string]*Tensor{"MatMul": a.MatMul(b), "Linear": Linear(a, b.T(), nil), "transposed": b.T().MatMul(a.T()).T()} {
						if d := largestDistance(t, name, got, want); !(d <= 1e-5) {
							t.Errorf("%s of %s is wrong by %v", op, name, d)
						}
					}
				}
				batchA, batchB := expanded(true, 0, 2, m, k), expanded(true, 0, 2, k, n)
				if d := largestDistance(t, "batch", batchA.MatMul(batchB), copied(batchA).MatMul(copied(batchB))); !(d <= 1e-5) {
					t.Errorf("a batch of [%d %d]·[%d %d] is wrong by %v", m, k, k, n, d)
				}
				w, u := Parameter(Randn(g, k, n)), Randn(g, n)
				x := Randn(g, m, k)
				x.MatMul(w).Sum(0).Mul(u).Sum().Backward()
				if d := largestDistance(t, "gradient", w.Grad(), x.Sum(0).Reshape(k, 1).MatMul(u.Reshape(1, n))); !(d <= 1e-5) {
					t.Errorf("the gradient of the sum of [%d %d]·[%d %d] is wrong by %v", m, k, k, n, d)
				}
			}
		}
	}
}

// TestRepeatedHeads computes attention, and its gradients, of tensors that are repeated along an axis and of heads of any size in
// the rows of a projection, and compares with the formula.
func TestRepeatedHeads(t *testing.T) {
	g := NewGenerator(2)
	const batch, heads, queries = 2, 2, 19
	check := func(name string, causal bool, shape []int, view func(x *Tensor) *Tensor, leaves [3][]int) {
		t.Helper()
		var results [2][]*Tensor
		values := [3]*Tensor{Randn(g, leaves[0]...), Randn(g, leaves[1]...), Randn(g, leaves[2]...)}
		weight := Randn(g, shape...)
		for formula := range 2 {
			var p, in [3]*Tensor
			for i, v := range values {
				p[i] = Parameter(v.Clone())
				in[i] = view(p[i])
			}
			y := (*Tensor)(nil)
			if formula == 0 {
				y = Attention(in[0], in[1], in[2], causal)
			} else {
				for i := range in { // multiplied, so that no operand of a matmul is a view
					in[i] = in[i].Mul(Ones(shape...))
				}
				scores := in[0].MatMul(in[1].MT()).MulScalar(1 / math.Sqrt(float64(shape[3])))
				if causal {
					scores = scores.MaskedFill(Ones(shape[2], shape[2]).Tril(0).EqScalar(0), math.Inf(-1))
				}
				y = scores.Softmax(-1).MatMul(in[2])
			}
			y.Mul(weight).Sum().Backward()
			results[formula] = []*Tensor{y, p[0].Grad(), p[1].Grad(), p[2].Grad()}
		}
		for i, what := range []string{"result", "gradient of the queries", "gradient of the keys", "gradient of the values"} {
			if d := largestDistance(t, what, results[0][i], results[1][i]); !(d <= 1e-5) {
				t.Errorf("%s, causal %v: the %s is wrong by %v", name, causal, what, d)
			}
		}
	}
	for _, size := range []int{1, 2, 3, 8, 16, 32} {
		shape := []int{batch, heads, queries, size}
		for _, causal := range []bool{false, true} {
			rows := []int{batch, queries, heads, 3, size}
			check(fmt.Sprintf("heads of %d in rows", size), causal, shape, func(x *Tensor) *Tensor {
				return x.Slice(3, 1, 2).Reshape(batch, queries, heads, size).Permute(0, 2, 1, 3)
			}, [3][]int{rows, rows, rows})
			for axis := range 4 {
				for which := 1; which < 8; which++ {
					var leaves [3][]int
					for i := range leaves {
						leaves[i] = slices.Clone(shape)
						if which>>i&1 == 1 {
							leaves[i][axis] = 1
						}
					}
					check(fmt.Sprintf("heads of %d, inputs %03b repeated along axis %d", size, which, axis), causal, shape, func(x *Tensor) *Tensor { return x.Expand(shape...) }, leaves)
				}
			}
		}
	}
}
