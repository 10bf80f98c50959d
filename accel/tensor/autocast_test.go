package tensor

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// autocastRow is a public op with PyTorch's name for it. It is called with [4, 4] tensors.
type autocastRow struct {
	name, torch string
	f           func(a, b *Tensor) *Tensor
}

// autocastRows are the ops that are not a method with the name of the op and of PyTorch's function.
var autocastRows = []autocastRow{
	{"AddScalar", "add", func(a, _ *Tensor) *Tensor { return a.AddScalar(1) }},
	{"Attention", "scaled_dot_product_attention", func(a, b *Tensor) *Tensor {
		x, y := a.Reshape(1, 1, 4, 4), b.Reshape(1, 1, 4, 4)
		return Attention(x, y, y, true)
	}},
	{"AvgPool2D", "avg_pool2d", func(a, _ *Tensor) *Tensor { return AvgPool2D(a.Reshape(1, 1, 4, 4), [2]int{2, 2}, Window{}) }},
	{"BatchNorm", "batch_norm", func(a, _ *Tensor) *Tensor {
		return BatchNorm(a, Ones(4), Zeros(4), Zeros(4), Ones(4), 0.1, 1e-5, true)
	}},
	{"CDist", "cdist", CDist},
	{"Clamp", "clamp", func(a, _ *Tensor) *Tensor { return a.Clamp(-1, 1) }},
	{"Clone", "clone", func(a, _ *Tensor) *Tensor { return a.Clone() }},
	{"Concat", "cat", func(a, b *Tensor) *Tensor { return Concat(0, a, b) }},
	{"Conv2D", "conv2d", func(a, b *Tensor) *Tensor {
		return Conv2D(a.Reshape(1, 1, 4, 4), b.Reshape(4, 1, 2, 2), nil, Window{})
	}},
	{"Conv2DInputGradient", "conv_transpose2d", func(a, b *Tensor) *Tensor {
		return ConvTranspose2D(a.Reshape(1, 1, 4, 4), b.Reshape(1, 4, 2, 2), nil, Window{}, [2]int{})
	}},
	{"CosineSimilarity", "cosine_similarity", func(a, b *Tensor) *Tensor { return CosineSimilarity(a, b, 1) }},
	{"CrossEntropy", "nll_loss", func(a, _ *Tensor) *Tensor { return CrossEntropy(a, FromInts([]int{0, 1, 2, 3}, 4)) }},
	{"CrossEntropy", "nll_loss", func(a, _ *Tensor) *Tensor { return MaskedCrossEntropy(a, FromInts([]int{0, 1, -1, 3}, 4), -1) }},
	{"CumProd", "cumprod", func(a, _ *Tensor) *Tensor { return a.CumProd(1) }},
	{"CumSum", "cumsum", func(a, _ *Tensor) *Tensor { return a.CumSum(1) }},
	{"Dropout", "dropout", func(a, _ *Tensor) *Tensor { return a.Dropout(0.5, nil, true) }},
	{"ELU", "elu", func(a, _ *Tensor) *Tensor { return a.ELU(1) }},
	{"Embedding", "embedding", func(a, _ *Tensor) *Tensor { return Embedding(a, FromInts([]int{1}, 1)) }},
	{"Expand", "expand", func(a, _ *Tensor) *Tensor { return a.Expand(2, 4, 4) }},
	{"Flip", "flip", func(a, _ *Tensor) *Tensor { return a.Flip() }},
	{"Gather", "gather", func(a, _ *Tensor) *Tensor { return a.Gather(0, FromInts([]int{1, 2}, 1, 2)) }},
	{"LayerNorm", "layer_norm", func(a, _ *Tensor) *Tensor { return LayerNorm(a, Ones(4), nil, 1, 1e-5) }},
	{"LeakyReLU", "leaky_relu", func(a, _ *Tensor) *Tensor { return a.LeakyReLU(0.1) }},
	{"Linear", "linear", func(a, b *Tensor) *Tensor { return Linear(a, b, Zeros(4)) }},
	{"LogSoftmax", "log_softmax", func(a, _ *Tensor) *Tensor { return a.LogSoftmax(1) }},
	{"LogSumExp", "logsumexp", func(a, _ *Tensor) *Tensor { return a.LogSumExp(1) }},
	{"MSE", "mse_loss", MSE},
	{"MaskedFill", "masked_fill", func(a, _ *Tensor) *Tensor { return a.MaskedFill(Ones(4), 2) }},
	{"Max", "amax", func(a, _ *Tensor) *Tensor { return a.Max(0) }},
	{"MaxPool2D", "max_pool2d", func(a, _ *Tensor) *Tensor { return MaxPool2D(a.Reshape(1, 1, 4, 4), [2]int{2, 2}, Window{}) }},
	{"Mean", "mean", func(a, _ *Tensor) *Tensor { return a.Mean() }},
	{"Median", "median", func(a, _ *Tensor) *Tensor { return a.Median(0) }},
	{"Min", "amin", func(a, _ *Tensor) *Tensor { return a.Min(0) }},
	{"MulScalar", "mul", func(a, _ *Tensor) *Tensor { return a.MulScalar(2) }},
	{"Norm", "norm", func(a, _ *Tensor) *Tensor { return a.Norm() }},
	{"Normalize", "linalg_vector_norm", func(a, _ *Tensor) *Tensor { return a.Normalize(2, 1) }},
	{"Pad", "constant_pad_nd", func(a, _ *Tensor) *Tensor { return a.Pad(0, 1, 1) }},
	{"PowScalar", "pow", func(a, _ *Tensor) *Tensor { return a.PowScalar(2) }},
	{"Prod", "prod", func(a, _ *Tensor) *Tensor { return a.Prod() }},
	{"Quantile", "quantile", func(a, _ *Tensor) *Tensor { return a.Quantile(0.3, 0) }},
	{"RMSNorm", "rms_norm", func(a, _ *Tensor) *Tensor { return RMSNorm(a, Ones(4), 1, 1e-6) }},
	{"Recurrent", "rnn_tanh_cell", func(a, b *Tensor) *Tensor {
		y, _, _ := tensors.Recurrence[*Tensor]{Cell: ir.TanhCell, X: a.Reshape(1, 4, 4), Weight: b}.Run()
		return y
	}},
	{"Reshape", "reshape", func(a, _ *Tensor) *Tensor { return a.Reshape(2, 8) }},
	{"IndexAdd", "scatter_add", func(a, _ *Tensor) *Tensor { return a.IndexAdd(FromInts([]int{0, 1, 0, 1}, 4), 2) }},
	{"Roll", "roll", func(a, _ *Tensor) *Tensor { return a.Roll(1, 0) }},
	{"Scatter", "scatter", func(a, b *Tensor) *Tensor { return a.Scatter(0, FromInts([]int{1, 2}, 1, 2), b) }},
	{"ScatterAdd", "scatter_add", func(a, b *Tensor) *Tensor { return a.ScatterAdd(0, FromInts([]int{1, 2}, 1, 2), b) }},
	{"Slice", "slice", func(a, _ *Tensor) *Tensor { return a.Slice(0, 1, 3) }},
	{"Softmax", "softmax", func(a, _ *Tensor) *Tensor { return a.Softmax(1) }},
	{"Stack", "stack", func(a, b *Tensor) *Tensor { return Stack(0, a, b) }},
	{"Std", "std", func(a, _ *Tensor) *Tensor { return a.Std(1) }},
	{"Sum", "sum", func(a, _ *Tensor) *Tensor { return a.Sum(0) }},
	{"Permute", "permute", func(a, _ *Tensor) *Tensor { return a.T() }},
	{"Var", "var", func(a, _ *Tensor) *Tensor { return a.Var(1) }},
	{"Where", "where", func(a, b *Tensor) *Tensor { return Where(a.Greater(b), a, b) }},
}

// TestAutocastLists checks that each op computes in the type of PyTorch's lists, for inputs in
// float32, in 16 bits, and mixed.
func TestAutocastLists(t *testing.T) {
	text, err := os.ReadFile("testdata/autocast.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Lists map[string][]string }
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	known, rows := map[string]bool{}, autocastRows
	for _, op := range ir.Table() {
		m, ok := methods[op.Name()]
		if from, to := ir.TypedBy(op, m.arity); ok && !ir.Moves(op) && from == 0 && to == m.arity { // the result has the type of the inputs
			rows = append(rows, autocastRow{op.Name(), strings.ToLower(op.Name()), func(a, b *Tensor) *Tensor { return m.call([]*Tensor{a, b}[:m.arity]) }})
		}
	}
	for _, row := range rows {
		known[row.name] = true
		lower, single := slices.Contains(golden.Lists["lower"], row.torch), slices.Contains(golden.Lists["float32"], row.torch)
		for _, dtype := range []DType{BFloat16, Float16} {
			for i, types := range [][2]DType{{Float32, Float32}, {dtype, dtype}, {dtype, Float32}, {Float64, Float64}} {
				if i == 3 && slices.Contains([]string{"BatchNorm", "LayerNorm", "Linear", "RMSNorm"}, row.name) {
					continue // the parameters are float32 here
				}
				want := dtype // if the inputs have it
				switch {
				case i == 3:
					want = Float64
				case lower:
				case single:
					want = Float32
				case i == 0:
					want = Float32
				case i == 2 && usesBoth(row.f):
					want = Float32
				}
				Autocast(dtype, func() {
					a, b := Full(0.5, 4, 4).Cast(types[0]), Full(0.5, 4, 4).Cast(types[1])
					if y := row.f(a, b); y.DType() != want {
						t.Errorf("%s of %v in Autocast(%v) is %v, want %v", row.name, types, dtype, y.DType(), want)
					}
				})
			}
		}
	}
	for _, op := range ir.Table() {
		if ir.AutocastOf(op) != ir.CastNothing && !ir.OnlyInGradients(op) && !known[op.Name()] {
			t.Errorf("%s has a policy but no row", op.Name())
		}
	}
}

// usesBoth reports whether f computes with its second argument.
func usesBoth(f func(a, b *Tensor) *Tensor) (uses bool) {
	defer func() { uses = recover() != nil }()
	f(Full(0.5, 4, 4), nil)
	return false
}

// TestAutocastGradients computes y = x·wᵀ in bfloat16 with public ops.
func TestAutocastGradients(t *testing.T) {
	w, x := Parameter(New([]float32{1.001, 2.003}, 1, 2)), New([]float32{3.007, 4.1}, 1, 2)
	var loss *Tensor
	Autocast(BFloat16, func() { loss = x.MatMul(w.T()).Square().Sum() })
	loss.Backward()
	toBFloat16 := func(v float64) float64 { return New([]float32{float32(v)}).Cast(BFloat16).Item() }
	y := toBFloat16(toBFloat16(3.007)*toBFloat16(1.001) + toBFloat16(4.1)*toBFloat16(2.003))
	if want := toBFloat16(y * y); loss.Item() != want || loss.DType() != Float32 {
		t.Errorf("the loss is %v of %v, want %v", loss.Item(), loss.DType(), want)
	}
	slope := toBFloat16(2 * y)
	want := []float64{toBFloat16(slope * toBFloat16(3.007)), toBFloat16(slope * toBFloat16(4.1))}
	if got := w.Grad(); got.DType() != Float32 || !slices.Equal(got.Float64s(), want) {
		t.Errorf("the gradient is %v, want %v", got, want)
	}
}

func TestAutocastScope(t *testing.T) {
	one := Ones(1, 1)
	product := func() DType { return one.MatMul(one).DType() }
	Autocast(BFloat16, func() {
		if product() != BFloat16 {
			t.Error("MatMul is not bfloat16 in Autocast")
		}
		Autocast(Float32, func() {
			if product() != Float32 {
				t.Error("Autocast(Float32) does not end the outer one")
			}
		})
		done := make(chan DType)
		go func() { done <- product() }()
		if d := <-done; d != Float32 {
			t.Errorf("another goroutine computes in %v", d)
		}
		_ = catch(func() { Autocast(Float16, func() { Zeros(2).Add(Zeros(3)) }) })
		if product() != BFloat16 {
			t.Error("a panic within Autocast has changed the scope outside")
		}
	})
	if product() != Float32 {
		t.Error("Autocast goes on after its end")
	}
	var dtype *DTypeError
	if err := catch(func() { Autocast(Int32, func() {}) }); !errors.As(err, &dtype) {
		t.Errorf("Autocast(Int32): %v", err)
	}
}

// TestAutocastOfRecompute checks that the recomputation uses the types of the forward pass.
func TestAutocastOfRecompute(t *testing.T) {
	gradient := func(recompute bool) []float32 {
		w := Parameter(New([]float32{1.001, 2.003, 0.3, 0.7}, 2, 2))
		f := func(in []*Tensor) *Tensor { return in[0].MatMul(in[0]).Exp() }
		var loss *Tensor
		Autocast(BFloat16, func() {
			y := f
			if recompute {
				y = func(in []*Tensor) *Tensor { return Recompute(f, in...) }
			}
			loss = y([]*Tensor{w}).Sum()
		})
		loss.Backward()
		return w.Grad().Data()
	}
	if got, want := gradient(true), gradient(false); !slices.Equal(got, want) {
		t.Errorf("the gradient is %v, without Recompute %v", got, want)
	}
}

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
