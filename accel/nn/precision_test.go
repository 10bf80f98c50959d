package nn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// rounded is a number rounded to so many bits of fraction, to even.
func rounded(v float64, bits int) float64 {
	if v == 0 {
		return 0
	}
	_, exponent := math.Frexp(v)
	unit := math.Ldexp(1, exponent-1-bits)
	return math.RoundToEven(v/unit) * unit
}

// TestAutocast computes a layer by hand from rounded numbers; the sums of
// float32 may round to the neighbour.
func TestAutocast(t *testing.T) {
	for name, tt := range map[string]struct {
		dtype tensor.DType
		bits  int // of the fraction
	}{"bfloat16": {tensor.BFloat16, 7}, "float16": {tensor.Float16, 10}} {
		t.Run(name, func(t *testing.T) {
			tensor.Seed(3)
			layer := nn.Dense(5)
			x := tensor.Parameter(tensor.Randn(nil, 4, 7))
			exact := layer.Forward(x).Float64s()
			nn.Autocast(layer, tt.dtype)
			y := layer.Forward(x)
			w, b, xs := layer.Weight.Float64s(), layer.Bias.Float64s(), x.Float64s()
			differs := false
			for i, got := range y.Float64s() {
				n, o := i/5, i%5
				sum := rounded(b[o], tt.bits)
				for k := range 7 {
					sum += rounded(xs[7*n+k], tt.bits) * rounded(w[7*o+k], tt.bits)
				}
				want := rounded(sum, tt.bits)
				if !(math.Abs(got-want) <= math.Ldexp(math.Abs(want), -tt.bits)) || got != rounded(got, tt.bits) {
					t.Errorf("y[%d]\n want %v\n got  %v", i, want, got)
				}
				differs = differs || got != exact[i]
			}
			if !differs {
				t.Error("nothing was rounded")
			}
			y.Sum().Backward()
			for i, g := range x.Grad().Float64s() {
				if g != rounded(g, tt.bits) {
					t.Errorf("the gradient %v of element %d has more bits", g, i)
				}
			}
			if layer.Weight.DType() != tensor.Float32 || y.DType() != tensor.Float32 {
				t.Errorf("the weight is %v, the output %v", layer.Weight.DType(), y.DType())
			}
			nn.Autocast(layer, tensor.Float32)
			if got := layer.Forward(x).Float64s(); !slices.Equal(got, exact) {
				t.Error("Float32 does not take it back")
			}
		})
	}
}

// TestAutocastOverflows wants infinity where float16 has no such number.
func TestAutocastOverflows(t *testing.T) {
	layer := nn.Dense(1, nn.NoBias())
	layer.Forward(tensor.Zeros(1, 1))
	tensor.NoGrad(func() { layer.Weight.Assign(tensor.Ones(1, 1)) })
	x := tensor.New([]float32{70000}, 1, 1)
	for dtype, infinite := range map[tensor.DType]bool{tensor.Float16: true, tensor.BFloat16: false, tensor.Float32: false} {
		nn.Autocast(layer, dtype)
		if y := layer.Forward(x).Item(); math.IsInf(y, 1) != infinite {
			t.Errorf("%v of 70000 is %v", dtype, y)
		}
	}
}

// TestAutocastList says which layers are on the list: those that multiply
// matrices.
func TestAutocastList(t *testing.T) {
	model := nn.Sequential(
		nn.Embedding(5, 8), nn.PosEmbedding(4, 8),
		nn.Residual(nn.LayerNorm(), nn.SelfAttention(2), nn.RMSNorm()),
		nn.Dense(4), nn.GELU())
	nn.Autocast(model, tensor.BFloat16)
	want := map[string]string{"SelfAttention(2)": "bfloat16", "Dense(4)": "bfloat16"}
	table := nn.Summary(model, 4)
	if table.Err != nil {
		t.Fatal(table.Err)
	}
	for _, r := range table.Rows {
		dtype := "float32"
		if w, ok := want[r.Layer]; ok {
			dtype = w
		}
		if r.DType.String() != dtype {
			t.Errorf("%s computes in %v, want %s", r.Layer, r.DType, dtype)
		}
	}
	if text := table.String(); !strings.Contains(text, "dtype") || !strings.Contains(text, "bfloat16") {
		t.Errorf("the table does not tell:\n%s", text)
	}
	images := nn.Sequential(nn.Conv2D(2, 3), nn.BatchNorm(), nn.MaxPool(2))
	nn.Autocast(images, tensor.Float16)
	rows := nn.Summary(images, 1, 6, 6).Rows
	if rows[0].DType != tensor.Float16 || rows[1].DType != tensor.Float32 || rows[2].DType != tensor.Float32 {
		t.Errorf("%+v", rows)
	}
}
