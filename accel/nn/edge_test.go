package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// finiteAll reports elements that are not finite.
func finiteAll(t *testing.T, what string, x *tensor.Tensor) {
	t.Helper()
	for i, v := range x.Cast(tensor.Float32).Data() {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Errorf("%s: element %d is %v", what, i, v)
			return
		}
	}
}

// TestLossesOfConstants computes losses and their gradients of zero and constant predictions, for a single
// example, a single class and 16-bit floats. The values are those of the definitions.
func TestLossesOfConstants(t *testing.T) {
	classes := func(n int) *tensor.Tensor { return tensor.FromInts(make([]int, n), n) }
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64} {
		for _, n := range []int{1, 3} {
			for _, v := range []float64{0, 1, -2} {
				for _, c := range []int{1, 4} {
					for _, row := range []struct {
						name   string
						loss   nn.Loss
						target *tensor.Tensor
						want   float64
					}{
						{"CrossEntropy", nn.CrossEntropy, classes(n), math.Log(float64(c))},
						{"CrossEntropyLoss", nn.CrossEntropyLoss(nn.LabelSmoothing(0.1)), classes(n), math.Log(float64(c))},
						{"BCEWithLogits", nn.BCEWithLogits, tensor.Ones(n, c).Cast(d), math.Log1p(math.Exp(-v))},
						{"FocalLoss", nn.FocalLoss(0, -1), tensor.Ones(n, c).Cast(d), math.Log1p(math.Exp(-v))},
						{"CrossEntropy of pixels", func(x, y *tensor.Tensor) *tensor.Tensor {
							return nn.CrossEntropy(x.Reshape(n, c, 1, 1), y.Reshape(n, 1, 1))
						}, classes(n), math.Log(float64(c))},
						{"GaussianNLL", func(x, y *tensor.Tensor) *tensor.Tensor { return nn.GaussianNLL(x, y, y) }, tensor.Ones(n, c).Cast(d), (v - 1) * (v - 1) / 2},
						{"PoissonNLL", nn.PoissonNLL, tensor.Ones(n, c).Cast(d), math.Exp(v) - v},
						{"QuantileLoss", nn.QuantileLoss(0.75), tensor.Ones(n, c).Cast(d), map[float64]float64{0: 0.75, 1: 0, -2: 2.25}[v]},
						{"MarginRanking", func(x, y *tensor.Tensor) *tensor.Tensor { return nn.MarginRanking(x, y, y, 0.5) }, tensor.Ones(n, c).Cast(d), max(0, 1.5-v)},
						{"CTC", func(x, y *tensor.Tensor) *tensor.Tensor { // c positions of one class, and a label of another: never
							return nn.CTC(tensor.Stack(2, x, x).LogSoftmax(-1), y, tensor.Full(float64(c), n).Cast(tensor.Int32), tensor.Full(1, n).Cast(tensor.Int32))
						}, tensor.Ones(n, 1).Cast(tensor.Int32), -math.Log(float64(c*(c+1)/2) / math.Pow(2, float64(c)))},
						{"MSE", nn.MSE, tensor.Ones(n, c).Cast(d), (v - 1) * (v - 1)},
						{"L1", nn.L1, tensor.Ones(n, c).Cast(d), math.Abs(v - 1)},
						{"SmoothL1Loss", nn.SmoothL1Loss(1), tensor.Ones(n, c).Cast(d), map[float64]float64{0: 0.5, 1: 0, -2: 2.5}[v]},
						{"HuberLoss", nn.HuberLoss(1), tensor.Ones(n, c).Cast(d), map[float64]float64{0: 0.5, 1: 0, -2: 2.5}[v]},
					} {
						what := fmt.Sprintf("%s of %v [%d %d] %v", row.name, v, n, c, d)
						x := tensor.Parameter(tensor.Full(v, n, c).Cast(d))
						loss := row.loss(x, row.target)
						got := float64(loss.Cast(tensor.Float32).Data()[0])
						tolerance := map[tensor.DType]float64{tensor.Float16: 2e-3, tensor.BFloat16: 2e-2}[d] + 1e-5
						if !(math.Abs(got-row.want) <= tolerance*(1+row.want)) {
							t.Errorf("%s: %v, want %v", what, got, row.want)
						}
						loss.Sum().Backward()
						finiteAll(t, what+", gradient", x.Grad())
					}
				}
			}
		}
	}
}

// TestNormsOfConstants demands that norms of equal numbers, whose variance is 0, give their bias, and
// finite gradients.
func TestNormsOfConstants(t *testing.T) {
	for _, v := range []float64{0, 0.1, 3, -1000} {
		for _, n := range []int{2, 7, 49, 1100} {
			for name, layer := range map[string]nn.Module{"LayerNorm": nn.LayerNorm(), "BatchNorm": nn.BatchNorm()} {
				what := fmt.Sprintf("%s of %d × %v", name, n, v)
				x := tensor.Parameter(tensor.Full(v, n, n))
				y := layer.Forward(x)
				for i, got := range y.Data() {
					if got != 0 {
						t.Errorf("%s: element %d is %v", what, i, got)
						break
					}
				}
				y.Square().Sum().Backward()
				finiteAll(t, what+", gradient", x.Grad())
			}
		}
	}
}

// TestMeanOfEqualLosses demands that the loss of equal examples is that of one of them, to the last bit, for any
// number of examples. FP16 has no number above 65,504 and no odd one above 2,048.
func TestMeanOfEqualLosses(t *testing.T) {
	repeat := func(x *tensor.Tensor, n int) *tensor.Tensor { return x.Expand(n, x.Size(-1)).Clone() }
	row := tensor.New([]float32{0.1, 0.7, -0.3}, 1, 3)
	target := tensor.New([]float32{0.2, 0.5, 0.3}, 1, 3)
	same := func(n int, v float64, d tensor.DType) *tensor.Tensor { return tensor.Full(v, n).Cast(d) }
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		for name, loss := range map[string]func(n int) *tensor.Tensor{
			"CrossEntropy": func(n int) *tensor.Tensor {
				return nn.CrossEntropy(repeat(row.Cast(d), n), tensor.Full(1, n).Cast(tensor.Int32))
			},
			"CrossEntropy of probabilities": func(n int) *tensor.Tensor {
				return nn.CrossEntropy(repeat(row.Cast(d), n), repeat(target.Cast(d), n))
			},
			"NLL": func(n int) *tensor.Tensor {
				return nn.NLL(repeat(row.Cast(d), n), tensor.Full(1, n).Cast(tensor.Int32))
			},
			"KLDiv": func(n int) *tensor.Tensor {
				return nn.KLDiv(repeat(row.LogSoftmax(-1).Cast(d), n), repeat(target.Cast(d), n))
			},
			"CrossEntropy of pixels": func(n int) *tensor.Tensor {
				return nn.CrossEntropy(repeat(row.Cast(d), n).Reshape(n, 3, 1, 1), tensor.Full(1, n, 1, 1).Cast(tensor.Int32))
			},
			"GaussianNLL":  func(n int) *tensor.Tensor { return nn.GaussianNLL(same(n, 1.7, d), same(n, 0.4, d), same(n, 0.3, d)) },
			"PoissonNLL":   func(n int) *tensor.Tensor { return nn.PoissonNLL(same(n, 1.7, d), same(n, 3, d)) },
			"QuantileLoss": func(n int) *tensor.Tensor { return nn.QuantileLoss(0.9)(same(n, 1.7, d), same(n, 2.4, d)) },
			"MarginRanking": func(n int) *tensor.Tensor {
				return nn.MarginRanking(same(n, 1.7, d), same(n, 0.4, d), same(n, -1, d), 0.5)
			},
			"MSE":           func(n int) *tensor.Tensor { return nn.MSE(same(n, 1.7, d), same(n, 0.4, d)) },
			"L1":            func(n int) *tensor.Tensor { return nn.L1(same(n, 1.7, d), same(n, 0.4, d)) },
			"Huber":         func(n int) *tensor.Tensor { return nn.HuberLoss(0.3)(same(n, 1.7, d), same(n, 0.4, d)) },
			"SmoothL1":      func(n int) *tensor.Tensor { return nn.SmoothL1Loss(0.3)(same(n, 1.7, d), same(n, 0.4, d)) },
			"BCEWithLogits": func(n int) *tensor.Tensor { return nn.BCEWithLogits(same(n, 1.7, d), same(n, 1, d)) },
			"FocalLoss":     func(n int) *tensor.Tensor { return nn.FocalLoss(2, 0.25)(same(n, 1.7, d), same(n, 1, d)) },
			"CosineEmbedding": func(n int) *tensor.Tensor {
				return nn.CosineEmbedding(repeat(row.Cast(d), n), repeat(target.Cast(d), n), same(n, 1, d), 0)
			},
			"TripletMargin": func(n int) *tensor.Tensor {
				return nn.TripletMargin(repeat(row.Cast(d), n), repeat(target.Cast(d), n), repeat(row.MulScalar(0.1).Cast(d), n), 1)
			},
		} {
			want := loss(1)
			for _, n := range []int{2, 3, 7, 49, 257, 1000, 2049, 70001} {
				if got := loss(n); got.Float64s()[0] != want.Float64s()[0] || got.DType() != want.DType() {
					t.Errorf("%s of %d equal examples, %v: %v of %v, of one %v of %v", name, n, d, got.Float64s(), got.DType(), want.Float64s(), want.DType())
				}
			}
		}
		// With weights or a smoothed target it is the quotient of two sums, which do not overflow either.
		tolerance := map[tensor.DType]float64{tensor.Float16: 1e-3, tensor.BFloat16: 1e-2}[d] + 1e-5
		for _, n := range []int{3, 2049, 70001} {
			classes := tensor.Full(1, n).Cast(tensor.Int32)
			x := repeat(tensor.New([]float32{0, -1.75, 0}, 1, 3).Cast(d), n)
			for name, got := range map[string]*tensor.Tensor{
				"WeightedMean":           nn.WeightedMean(same(n, 1.75, d), tensor.Full(2, n)),
				"NLL with weights":       nn.NLLLoss(nn.ClassWeights(1, 2, 3), nn.IgnoreIndex(-100))(x, classes),
				"CrossEntropy, smoothed": nn.CrossEntropyLoss(nn.LabelSmoothing(0.1))(x, classes),
			} {
				want := 1.75
				if name == "CrossEntropy, smoothed" { // -Σ y·ln softmax(x) with y = 0.9 + 0.1/3 for the class and 0.1/3 for the others
					want = math.Log(2+math.Exp(-1.75)) + 1.75*(0.9+0.1/3)
				}
				if v := got.Float64s()[0]; !(math.Abs(v-want) <= tolerance*want) {
					t.Errorf("%s of %d examples, %v: %v, want %v", name, n, d, v, want)
				}
			}
		}
	}
}

// TestLossesOfDegenerateExamples computes losses where their formulas divide by 0 or take its logarithm: zero
// vectors, equal vectors, probabilities of 0 and 1.
func TestLossesOfDegenerateExamples(t *testing.T) {
	zeros, ones := func(d tensor.DType) *tensor.Tensor { return tensor.Zeros(2, 3).Cast(d) }, func(d tensor.DType) *tensor.Tensor { return tensor.Ones(2, 3).Cast(d) }
	side := tensor.New([]float32{1, -1}, 2)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		certain := tensor.New([]float32{1, 0, 0, 0, 1, 0}, 2, 3).Cast(d)
		for _, row := range []struct {
			name string
			x    *tensor.Tensor
			loss func(x *tensor.Tensor) *tensor.Tensor
			want float64
		}{
			// cos is 0 with a zero vector: (1 - 0 + max(0, 0 - margin)) / 2.
			{"CosineEmbedding of zeros", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.CosineEmbedding(x, zeros(d), side.Cast(d), 0) }, 0.5},
			{"CosineEmbedding of zeros and ones", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.CosineEmbedding(x, ones(d), side.Cast(d), 0) }, 0.5},
			{"CosineEmbedding of equal vectors", ones(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.CosineEmbedding(x, ones(d), side.Cast(d), 0) }, 0.5},
			// Both distances are 0: the margin.
			{"TripletMargin of zeros", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.TripletMargin(x, zeros(d), zeros(d), 1) }, 1},
			{"TripletMargin of equal vectors", ones(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.TripletMargin(x, ones(d), ones(d), 1) }, 1},
			// Σ q·(ln q - x) / N with q·ln q = 0 for a q of 0 and of 1.
			{"KLDiv of certain targets", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.KLDiv(x.AddScalar(-2), certain) }, 2},
			// a·(1 - p)^gamma·(-ln p) with p = 1/2.
			{"FocalLoss of zeros", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.FocalLoss(0.5, -1)(x, certain) }, math.Sqrt(0.5) * math.Ln2},
			// p is 1 for every element: right and certain.
			{"FocalLoss of certain predictions", certain.MulScalar(200).AddScalar(-100).Detach(), func(x *tensor.Tensor) *tensor.Tensor { return nn.FocalLoss(0.5, -1)(x, certain) }, 0},
			{"FocalLoss 2 of certain predictions", certain.MulScalar(200).AddScalar(-100).Detach(), func(x *tensor.Tensor) *tensor.Tensor { return nn.FocalLoss(2, 0.25)(x, certain) }, 0},
			{"BCEWithLogits of certain predictions", certain.MulScalar(200).AddScalar(-100).Detach(), func(x *tensor.Tensor) *tensor.Tensor { return nn.BCEWithLogits(x, certain) }, 0},
			{"MSE", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.MSE(x, zeros(d)) }, 0},
			{"L1", zeros(d), func(x *tensor.Tensor) *tensor.Tensor { return nn.L1(x, zeros(d)) }, 0},
		} {
			tolerance := map[tensor.DType]float64{tensor.Float16: 2e-3, tensor.BFloat16: 2e-2}[d] + 1e-5
			x := tensor.Parameter(row.x)
			loss := row.loss(x)
			if got := loss.Float64s()[0]; !(math.Abs(got-row.want) <= tolerance) {
				t.Errorf("%s, %v: %v, want %v", row.name, d, got, row.want)
			}
			if d == tensor.Float16 && row.name == "CosineEmbedding of zeros and ones" {
				continue // with its epsilon, the gradient is 1/√(3·1e-12), which FP16 does not have
			}
			loss.Backward()
			finiteAll(t, fmt.Sprintf("%s, %v, gradient", row.name, d), x.Grad())
		}
	}
}

// TestLayersOfConstants applies layers to equal numbers: pooling, resizing and means return the number, norms 0, and
// layers of sequences the same for each position. Gradients are finite.
func TestLayersOfConstants(t *testing.T) {
	same := func(v float64) float64 { return v }
	zero := func(float64) float64 { return 0 }
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for _, row := range []struct {
		name  string
		layer nn.Module
		shape []int
		want  func(v float64) float64 // of each element
	}{
		{"MaxPool2D", nn.MaxPool2D(2), []int{1, 2, 6, 6}, same},
		{"MaxPool2D, stride", nn.MaxPool2D(3, nn.Stride(2)), []int{3, 1, 7, 7}, same},
		{"AvgPool2D", nn.AvgPool2D(3), []int{1, 2, 6, 6}, same},
		{"AvgPool2D, stride", nn.AvgPool2D(3, nn.Stride(1)), []int{2, 1, 7, 7}, same},
		{"GlobalAvgPool2D", nn.GlobalAvgPool2D(), []int{1, 3, 7, 7}, same},
		{"MaxPool1D", nn.MaxPool1D(2), []int{1, 2, 6}, same},
		{"AvgPool1D", nn.AvgPool1D(3), []int{1, 2, 6}, same},
		{"GlobalAvgPool1D", nn.GlobalAvgPool1D(), []int{1, 2, 49}, same},
		{"Upsample", nn.Upsample(2), []int{1, 2, 3, 3}, same},
		{"Upsample, bilinear", nn.Upsample(3, nn.Bilinear()), []int{1, 2, 3, 3}, same},
		{"MeanPositions", nn.MeanPositions(), []int{1, 7, 3}, same},
		{"LastPosition", nn.LastPosition(), []int{1, 7, 3}, same},
		{"Flatten", nn.Flatten(), []int{1, 7, 3}, same},
		{"Unflatten", nn.Unflatten(7, 3), []int{1, 21}, same},
		{"Dropout", nn.Dropout(0.5), []int{1, 7}, same},           // in evaluation mode
		{"Dropout2D", nn.Dropout2D(0.5), []int{1, 7, 1, 1}, same}, // in evaluation mode
		{"Identity", nn.Identity(), []int{1, 7}, same},
		{"PixelShuffle", nn.PixelShuffle(2), []int{1, 4, 1, 3}, same},
		{"AdaptiveAvgPool2D", nn.AdaptiveAvgPool2D(2, 3), []int{1, 2, 7, 5}, same},
		{"AdaptiveAvgPool2D of one pixel", nn.AdaptiveAvgPool2D(2, 2), []int{1, 1, 1, 1}, same},
		{"PReLU", nn.PReLU(), []int{1, 3}, func(v float64) float64 { return max(v, 0.25*v) }},
		{"Softplus", nn.Softplus(), []int{1, 3}, func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }},
		{"Softmax", nn.Softmax(-1), []int{1, 4}, func(float64) float64 { return 0.25 }},
		{"LogSoftmax", nn.LogSoftmax(-1), []int{1, 4}, func(float64) float64 { return -math.Log(4) }},
		{"Softmax of one", nn.Softmax(-1), []int{1, 1}, func(float64) float64 { return 1 }},
		{"LayerNorm", nn.LayerNorm(), []int{1, 49}, zero},
		{"LayerNorm of one element", nn.LayerNorm(), []int{1, 1}, zero},
		{"GroupNorm", nn.GroupNorm(2), []int{1, 4, 3, 3}, zero},
		{"InstanceNorm", nn.InstanceNorm(), []int{1, 4, 3, 3}, zero},
		{"RMSNorm", nn.RMSNorm(), []int{1, 49}, func(v float64) float64 { return v / math.Sqrt(v*v+1e-5) }},
		{"BatchNorm", nn.BatchNorm(), []int{1, 4}, func(v float64) float64 { return v / math.Sqrt(1+1e-5) }}, // in evaluation mode, of its first statistics
		{"ReLU", nn.ReLU(), []int{1, 3}, func(v float64) float64 { return max(v, 0) }},
		{"Tanh", nn.Tanh(), []int{1, 3}, math.Tanh},
		{"Sigmoid", nn.Sigmoid(), []int{1, 3}, sigmoid},
		{"SiLU", nn.SiLU(), []int{1, 3}, func(v float64) float64 { return v * sigmoid(v) }},
		{"GELU", nn.GELU(), []int{1, 3}, func(v float64) float64 { return v * (1 + math.Erf(v/math.Sqrt2)) / 2 }},
		{"LeakyReLU", nn.LeakyReLU(0.1), []int{1, 3}, func(v float64) float64 { return max(v, 0.1*v) }},
		{"ELU", nn.ELU(1), []int{1, 3}, func(v float64) float64 { return max(v, 0) + math.Expm1(min(v, 0)) }},
	} {
		restore := nn.Eval(row.layer)
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
			for _, v := range []float64{0, 0.1, -2, 100} {
				what := fmt.Sprintf("%s of %v, %v", row.name, v, d)
				x := tensor.Parameter(tensor.Full(v, row.shape...))
				var y *tensor.Tensor
				given := v
				tensor.Autocast(d, func() {
					in := x
					if d != tensor.Float32 {
						in = x.Cast(d)
						given = in.Cast(tensor.Float32).Float64s()[0]
					}
					y = row.layer.Forward(in)
				})
				tolerance := 1e-5
				if d != tensor.Float32 {
					tolerance = map[tensor.DType]float64{tensor.Float16: 1e-3, tensor.BFloat16: 1e-2}[d]
				}
				for i, got := range y.Cast(tensor.Float32).Float64s() {
					if want := row.want(given); !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
						t.Errorf("%s: element %d is %v, want %v", what, i, got, want)
						break
					}
				}
				y.Cast(tensor.Float32).Square().Sum().Backward()
				finiteAll(t, what+", gradient", x.Grad())
			}
		}
		restore()
	}
}

// TestSequencesOfConstants gives layers the same vector at each position and in each example. An attention over
// equal values is that value, whatever its weights, so each position has the result of a sequence of one; a
// recurrent layer has the same result for each example, and 0 for a zero input, whose biases are 0.
func TestSequencesOfConstants(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		tolerance := 1e-5
		if d != tensor.Float32 {
			tolerance = map[tensor.DType]float64{tensor.Float16: 1e-2, tensor.BFloat16: 8e-2}[d]
		}
		for name, layer := range map[string]nn.Module{
			"SelfAttention":           nn.SelfAttention(2),
			"SelfAttention, causal":   nn.SelfAttention(2, nn.Causal()),
			"TransformerEncoderLayer": nn.TransformerEncoderLayer(2),
			"RNN":                     nn.RNN(4),
			"LSTM":                    nn.LSTM(4),
			"GRU":                     nn.GRU(4, nn.NumLayers(2)),
			"Dense":                   nn.Dense(4),
			"Embedding": nn.Sequential(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
				return x.Slice(2, 0, 1).Reshape(x.Size(0), x.Size(1)).Mul(tensor.Full(0).Cast(x.DType())).Cast(tensor.Int32)
			}), nn.Embedding(3, 4)),
		} {
			defer nn.Eval(layer)()
			for _, v := range []float64{0, 1, -3} {
				forward := func(n, positions int) (x, y *tensor.Tensor) {
					x = tensor.Parameter(tensor.Full(v, n, positions, 4))
					tensor.Autocast(d, func() { y = layer.Forward(x).Cast(tensor.Float32) })
					return x, y
				}
				_, y := forward(1, 1)
				one := y.Float64s()
				for _, shape := range [][2]int{{1, 7}, {3, 1}, {2, 65}} {
					what := fmt.Sprintf("%s of %v %v, %v", name, shape, v, d)
					x, y := forward(shape[0], shape[1])
					recurrent := name == "RNN" || name == "LSTM" || name == "GRU"
					finiteAll(t, what, y)
					for i, got := range y.Float64s() {
						position := i / len(one) % shape[1]
						if want := one[i%len(one)]; (!recurrent || position == 0) && !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
							t.Errorf("%s: element %d is %v, of one position %v", what, i, got, want)
							break
						}
					}
					if name != "Embedding" {
						y.Square().Sum().Backward()
						finiteAll(t, what+", gradient", x.Grad())
					}
				}
			}
		}
	}
}
