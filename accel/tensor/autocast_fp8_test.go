package tensor

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// roundFP8 rounds x to an 8-bit type with one scale, in float64.
func roundFP8(d DType, x []float32) []float64 {
	largest := float32(0)
	for _, v := range x {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	e := tensortype.Float8Scale(d, largest)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Ldexp(float64(tensortype.Float8Value(d, tensortype.Float8Bits(d, float32(math.Ldexp(float64(v), e))))), -e)
	}
	return out
}

// matmulFP8 returns the matrix product of a [m, k] and b [k, n].
func matmulFP8(m, n, k int, a, b func(i, k int) float64) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for p := range k {
				out[i*n+j] += a(i, p) * b(j, p)
			}
		}
	}
	return out
}

// TestAutocastFP8 compares Linear and its gradients with float64 arithmetic on the rounded inputs.
func TestAutocastFP8(t *testing.T) {
	const n, in, out = 5, 32, 48
	r := rand.New(rand.NewPCG(8, 8))
	numbers := func(n int, scale float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = tensortype.BFloat16Value(tensortype.BFloat16Bits(float32(r.NormFloat64() * scale)))
		}
		return x
	}
	x, w, b, dy := numbers(n*in, 3), numbers(out*in, 0.1), numbers(out, 1), numbers(n*out, 1e-4)
	x8, w8, dy8 := roundFP8(tensortype.Float8E4M3, x), roundFP8(tensortype.Float8E4M3, w), roundFP8(tensortype.Float8E5M2, dy)
	y := matmulFP8(n, out, in, func(i, k int) float64 { return x8[i*in+k] }, func(j, k int) float64 { return w8[j*in+k] })
	plain := append([]float64{}, y...)
	for i := range y {
		y[i] += float64(b[i%out])
	}
	dx := matmulFP8(n, in, out, func(i, k int) float64 { return dy8[i*out+k] }, func(j, k int) float64 { return w8[k*in+j] })
	dw := matmulFP8(out, in, n, func(i, k int) float64 { return dy8[k*out+i] }, func(j, k int) float64 { return x8[k*in+j] })
	db := matmulFP8(1, out, n, func(_, _ int) float64 { return 1 }, func(j, k int) float64 { return float64(dy[k*out+j]) })

	near := func(what string, got *Tensor, want []float64, scale float64) {
		t.Helper()
		for i, g := range got.Cast(Float64).Float64s() {
			if w := want[i]; !(math.Abs(g-w) <= math.Abs(w)/250+1e-6*scale) {
				t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
			}
		}
	}
	X, W, B := Parameter(New(x, n, in)), Parameter(New(w, out, in)), Parameter(New(b, out))
	var Y *Tensor
	AutocastFP8(func() { Y = Linear(X, W, B) })
	if Y.DType() != BFloat16 {
		t.Errorf("the result is %s", Y.DType())
	}
	near("y", Y, y, 1)
	Y.Cast(Float32).Mul(New(dy, n, out)).Sum().Backward()
	near("the gradient of x", X.Grad(), dx, 1e-4)
	near("the gradient of w", W.Grad(), dw, 1e-4)
	near("the gradient of the bias", B.Grad(), db, 1e-4)

	AutocastFP8(func() { Y = Linear(New(x, 1, n, in), W, nil) })
	near("without a bias", Y.Reshape(n, out), plain, 1)
}

// TestAutocastFP8OfWhatIsNot checks that float64, feature counts that are not multiples of 16, and
// empty batches are not affected, and that wrong shapes are errors as without AutocastFP8.
func TestAutocastFP8OfWhatIsNot(t *testing.T) {
	AutocastFP8(func() {
		if d := Linear(Ones(2, 16).Cast(Float64), Ones(16, 16).Cast(Float64), nil).DType(); d != Float64 {
			t.Errorf("float64 becomes %s", d)
		}
		if y := Linear(Full(1.0625, 2, 10), Ones(16, 10), nil); y.DType() != BFloat16 || y.Float64s()[0] != 10.625 {
			t.Errorf("10 features give %s %v", y.DType(), y.Float64s()[0])
		}
		if y := Linear(Full(1.0625, 2, 16), Ones(16, 16), nil); y.Float64s()[0] != 16 { // E4M3 rounds 1.0625 to 1
			t.Errorf("16 features give %v", y.Float64s()[0])
		}
		if y := Linear(Zeros(0, 16), Ones(16, 16), nil); y.Numel() != 0 {
			t.Errorf("no rows give %v", y.Shape())
		}
		var shape *ShapeError
		if err := catch(func() { Linear(Ones(2, 32), Ones(16, 16), nil) }); !errors.As(err, &shape) || shape.Op != "Linear" {
			t.Errorf("got %v", err)
		}
		if y := Linear(New([]float32{float32(math.Inf(1)), 15: 1}, 1, 16), Ones(16, 16), nil).Float64s()[0]; !math.IsNaN(y) {
			t.Errorf("an infinity gives %v", y)
		}
		if y := Linear(Zeros(3, 16), Zeros(16, 16), nil).Float64s()[5]; y != 0 {
			t.Errorf("zeros give %v", y)
		}
		Autocast(BFloat16, func() {
			if y := Linear(Full(1.0625, 2, 16), Ones(16, 16), nil); y.Float64s()[0] != 17 {
				t.Errorf("Autocast within gives %v", y.Float64s()[0])
			}
		})
	})
	if err := CheckFP8(); err != nil {
		t.Errorf("FP8 on the CPU: %v", err)
	}
}

// TestAutocastFP8AcrossFlushes reads the loss before Backward, which must not change the gradients.
func TestAutocastFP8AcrossFlushes(t *testing.T) {
	gradient := func(early bool) string {
		g := NewGenerator(3)
		x, w := Randn(g, 4, 32), Parameter(Randn(g, 16, 32))
		var loss *Tensor
		AutocastFP8(func() { loss = Linear(x, w, nil).Cast(Float32).Square().Sum() })
		if early {
			loss.Item()
		}
		loss.Backward()
		return strings.TrimSpace(w.Grad().String())
	}
	if a, b := gradient(false), gradient(true); a != b {
		t.Errorf("the gradients are\n%s\nand, with the loss read before,\n%s", a, b)
	}
}

// TestAutocastFP8Recomputed calls Backward outside of AutocastFP8: it must recompute in FP8.
func TestAutocastFP8Recomputed(t *testing.T) {
	gradient := func(recompute bool) string {
		g := NewGenerator(4)
		x, w, v := Parameter(Randn(g, 4, 32)), Parameter(Randn(g, 16, 32)), Parameter(Randn(g, 16, 16))
		part := func(in []*Tensor) *Tensor { return Linear(Linear(in[0], w, nil).Tanh(), v, nil) }
		var loss *Tensor
		AutocastFP8(func() {
			var y *Tensor
			if recompute {
				y = Recompute(part, x)
			} else {
				y = part([]*Tensor{x})
			}
			loss = y.Cast(Float32).Square().Sum()
		})
		loss.Backward()
		return x.Grad().String() + w.Grad().String() + v.Grad().String()
	}
	if a, b := gradient(false), gradient(true); a != b {
		t.Errorf("the gradients are\n%s\nand, recomputed,\n%s", a, b)
	}
}
