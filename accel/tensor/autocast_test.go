package tensor

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
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
