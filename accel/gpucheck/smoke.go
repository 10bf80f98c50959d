package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// smokeSteps is the number of training steps of each model.
const smokeSteps = 5

// smokeModel is a small model that is trained on the device and on the CPU.
type smokeModel struct {
	name      string
	dtype     tensor.DType // of autocast; Float32 is none
	fp8       bool
	tolerance float64 // of the losses, relative
	// gradients is the tolerance of the gradients of the first step, relative to their norm.
	gradients float64
	// build returns the model, and a function that computes its loss.
	build func(s sizes) (model any, loss func() *tensor.Tensor)
}

// sizes are those of the models: in multiples of what tensor cores need, except for a real GPU's,
// which are also large enough for libraries.
type sizes struct{ batch, width, image, channels, length int }

var (
	smokeSizes = sizes{batch: 32, width: 256, image: 32, channels: 32, length: 64}
	quickSizes = sizes{batch: 4, width: 32, image: 8, channels: 8, length: 8}
)

// Tolerances of the losses and of the gradients. Rounding to 16 or 8 bits differs where the values
// before it do, and an update carries it on.
const (
	smoke32, gradients32 = 1e-3, 2e-3
	smoke64, gradients64 = 1e-9, 1e-8
	smoke16, gradients16 = 3e-2, 1e-1
	smoke8, gradients8   = 6e-2, 2e-1
)

// smokeModels returns the models, which together use every layer with kernels of its own.
func smokeModels() []smokeModel {
	classify := func(module func(s sizes) nn.Module, x func(s sizes) *tensor.Tensor) func(s sizes) (any, func() *tensor.Tensor) {
		return func(s sizes) (any, func() *tensor.Tensor) {
			m, in, classes := module(s), x(s), index(10, s.batch)
			return m, func() *tensor.Tensor { return nn.CrossEntropy(m.Forward(in), classes) }
		}
	}
	approximate := func(module func(s sizes) nn.Module, x func(s sizes) *tensor.Tensor) func(s sizes) (any, func() *tensor.Tensor) {
		return func(s sizes) (any, func() *tensor.Tensor) {
			m, in := module(s), x(s)
			return m, func() *tensor.Tensor { return m.Forward(in).Cast(tensor.Float32).Square().Mean() }
		}
	}
	vectors := func(s sizes) *tensor.Tensor { return random(s.batch, s.width) }
	images := func(s sizes) *tensor.Tensor { return random(s.batch, 3, s.image, s.image) }
	sequences := func(s sizes) *tensor.Tensor { return random(s.batch, s.length, s.width) }
	heads := func(s sizes) int { return max(1, s.width/64) }
	conv := func(channels int) []nn.Module {
		return []nn.Module{nn.Conv2D(channels, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()}
	}
	mlp := func(s sizes) nn.Module {
		return nn.Sequential(nn.Dense(s.width), nn.ReLU(), nn.Dense(s.width), nn.ReLU(), nn.Dense(10))
	}
	return []smokeModel{
		{"mlp", tensor.Float32, false, smoke32, gradients32, classify(mlp, vectors)},
		{"cnn", tensor.Float32, false, smoke32, gradients32, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Conv2D(s.channels, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2),
				nn.Conv2D(2*s.channels, 5, nn.Stride(2)), nn.GELU(), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
		}, func(s sizes) *tensor.Tensor { return random(s.batch, 3, 2*s.image, 2*s.image) })},
		{"resnet9", tensor.BFloat16, false, smoke16, gradients16, classify(func(s sizes) nn.Module {
			c := s.channels
			all := nn.Sequential(conv(c)...).Add(conv(2*c)...).Add(nn.MaxPool2D(2), nn.Residual(append(conv(2*c), conv(2*c)...)...))
			return all.Add(conv(4*c)...).Add(nn.MaxPool2D(2), nn.Residual(append(conv(4*c), conv(4*c)...)...), nn.MaxPool2D(s.image/4), nn.Flatten(), nn.Dense(10))
		}, images)},
		{"gpt", tensor.BFloat16, false, smoke16, gradients16, approximate(func(s sizes) nn.Module {
			return nn.Sequential(nn.PositionEmbedding(s.length, s.width),
				nn.Residual(nn.LayerNorm(), nn.SelfAttention(heads(s), nn.Causal())),
				nn.Residual(nn.LayerNorm(), nn.Dense(4*s.width), nn.GELU(), nn.Dense(s.width)), nn.LayerNorm(), nn.Dense(s.width))
		}, sequences)},
		{"encoder with padding", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			m, in, lengths := nn.TransformerEncoderLayer(heads(s), nn.FeedForward(2*s.width), nn.TransformerDropout(0)), sequences(s), make([]int, s.batch)
			for i := range lengths {
				lengths[i] = 1 + i*5%s.length
			}
			padded := tensor.FromInts(lengths, s.batch)
			return m, func() *tensor.Tensor {
				return m.Encode(in, tensor.AttentionMask{Lengths: padded}).Cast(tensor.Float32).Sub(in).Square().Mean()
			}
		}},
		{"lstm", tensor.Float32, false, smoke32, gradients32, approximate(func(s sizes) nn.Module { return nn.LSTM(s.width, nn.NumLayers(2)) }, sequences)},
		{"lstm in 16 bits", tensor.BFloat16, false, smoke16, gradients16, approximate(func(s sizes) nn.Module { return nn.LSTM(s.width, nn.NumLayers(2)) }, sequences)},
		{"gru in 16 bits", tensor.BFloat16, false, smoke16, gradients16, approximate(func(s sizes) nn.Module { return nn.GRU(s.width, nn.Bidirectional()) }, sequences)},
		{"lenet", tensor.BFloat16, false, smoke16, gradients16, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Conv2D(6, 5, nn.Same()), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(16, 3), nn.ReLU(), nn.MaxPool2D(2),
				nn.Flatten(), nn.Dense(120), nn.ReLU(), nn.Dense(84), nn.ReLU(), nn.Dense(10))
		}, images)},
		{"resnet50", tensor.BFloat16, false, smoke16, gradients16, classify(func(s sizes) nn.Module { // its first layers and one block
			c := s.channels
			first := nn.Sequential(nn.Conv2D(c, 7, nn.Stride(2), nn.Padding(3), nn.NoBias()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(3, nn.Stride(2), nn.Padding(1)))
			return first.Add(nn.Residual(nn.Conv2D(c/2, 1, nn.NoBias()), nn.BatchNorm(), nn.ReLU(), nn.Conv2D(c/2, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU(),
				nn.Conv2D(c, 1, nn.NoBias()), nn.BatchNorm()), nn.ReLU(), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
		}, images)},
		{"vit", tensor.BFloat16, false, smoke16, gradients16, classify(func(s sizes) nn.Module {
			return models.ViT(models.ViTConfig{ImageSize: s.image, PatchSize: 4, Width: s.width, Inner: 2 * s.width, Layers: 2, Heads: heads(s), Classes: 10})
		}, images)},
		{"bert", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			m := models.BERT(models.BERTConfig{VocabSize: 50, Positions: s.length, Width: s.width, Inner: 2 * s.width, Layers: 2, Heads: heads(s)})
			in, classes := index(50, s.batch, s.length), index(50, s.batch*s.length)
			return m, func() *tensor.Tensor { return nn.CrossEntropy(m.Forward(in).Reshape(-1, 50), classes) }
		}},
		{"unet", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			c := s.channels
			down, inside := nn.Sequential(conv(c)...), nn.Sequential(nn.MaxPool2D(2)).Add(conv(2*c)...)
			grow, up, out := nn.ConvTranspose2D(c, 2, nn.Stride(2)), nn.Sequential(conv(c)...), nn.Conv2D(1, 1)
			in := images(s)
			return []nn.Module{down, inside, grow, up, out}, func() *tensor.Tensor {
				skip := down.Forward(in)
				both := tensor.Concat(1, skip, grow.Forward(inside.Forward(skip)))
				return out.Forward(up.Forward(both)).Cast(tensor.Float32).AddScalar(1).Square().Mean()
			}
		}},
		{"vae", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			c, small := s.channels, s.image/4
			half := func(c int) nn.Module { return nn.Conv2D(c, 4, nn.Stride(2), nn.Padding(1)) }
			double := func(c int) nn.Module { return nn.ConvTranspose2D(c, 4, nn.Stride(2), nn.Padding(1)) }
			encoder, mean, deviation := nn.Sequential(half(c), nn.ReLU(), half(2*c), nn.ReLU(), nn.Flatten()), nn.Dense(s.width), nn.Dense(s.width)
			wide, decoder := nn.Dense(2*c*small*small), nn.Sequential(double(c), nn.ReLU(), double(3))
			in, noise := images(s), tensor.NewGenerator(5)
			return []nn.Module{encoder, mean, deviation, wide, decoder}, func() *tensor.Tensor {
				features := encoder.Forward(in)
				center := mean.Forward(features)
				latent := center.Add(deviation.Forward(features).Exp().Mul(tensor.Randn(noise, center.Shape()...)))
				image := decoder.Forward(wide.Forward(latent).ReLU().Reshape(-1, 2*c, small, small))
				return nn.MSE(image, in).Add(center.Cast(tensor.Float32).Square().Mean())
			}
		}},
		{"embedding", tensor.Float32, false, smoke32, gradients32, func(s sizes) (any, func() *tensor.Tensor) {
			ids := make([]int, s.batch*s.length) // half of them 0, as padding is
			for i := range ids {
				ids[i] = i % 2 * (i * 7 % 50)
			}
			m, in := nn.Sequential(nn.Embedding(50, s.width), nn.MeanPositions(), nn.Dense(10)), tensor.FromInts(ids, s.batch, s.length)
			classes := index(10, s.batch)
			return m, func() *tensor.Tensor { return nn.CrossEntropy(m.Forward(in), classes) }
		}},
		{"dropout", tensor.Float32, false, smoke32, gradients32, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Dense(s.width), nn.ReLU(), nn.Dropout(0.5), nn.Dense(10))
		}, vectors)},
		{"fp8", tensor.Float32, true, smoke8, gradients8, classify(mlp, vectors)},
		{"float64", tensor.Float32, false, smoke64, gradients64, func(s sizes) (any, func() *tensor.Tensor) {
			w := []*tensor.Tensor{tensor.Parameter(random(s.width, s.width).Cast(tensor.Float64)), tensor.Parameter(random(s.width, 10).Cast(tensor.Float64))}
			in, classes := vectors(s).Cast(tensor.Float64), index(10, s.batch)
			return w, func() *tensor.Tensor {
				return nn.CrossEntropy(in.MatMul(w[0]).MulScalar(0.05).Tanh().MatMul(w[1]).MulScalar(0.05), classes)
			}
		}},
		{"strided views", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			first, second := nn.Dense(s.width), nn.Dense(s.width/2)
			in := random(s.width, s.length, s.batch)
			return []nn.Module{first, second}, func() *tensor.Tensor {
				y := first.Forward(in.Permute(2, 1, 0)).ReLU() // [batch, length, width]
				left, right := y.Slice(2, 0, s.width/2), y.Slice(2, s.width/2, s.width)
				return second.Forward(left.Permute(1, 0, 2)).Mul(right.Permute(1, 0, 2)).Cast(tensor.Float32).Square().Mean()
			}
		}},
		{"convolutions in groups", tensor.Float32, false, smoke32, gradients32, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Conv2D(s.channels, 3, nn.Same()), nn.Conv2D(s.channels, 3, nn.Groups(4), nn.Dilation(2), nn.Padding(2)), nn.ReLU(),
				nn.Conv2D(s.channels, 3, nn.Groups(s.channels), nn.Same()), nn.ConvTranspose2D(8, 2, nn.Stride(2)), nn.AvgPool2D(2), nn.Flatten(), nn.Dense(10))
		}, images)},
		{"norms", tensor.BFloat16, false, smoke16, gradients16, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Conv2D(s.channels, 3, nn.Same()), nn.GroupNorm(4), nn.SiLU(), nn.Conv2D(s.channels, 1), nn.InstanceNorm(), nn.ReLU(),
				nn.GlobalAvgPool2D(), nn.Flatten(), nn.RMSNorm(), nn.Dense(10))
		}, images)},
		{"segmentation", tensor.BFloat16, false, smoke16, gradients16, func(s sizes) (any, func() *tensor.Tensor) {
			m := nn.Sequential(nn.Conv2D(s.channels, 3, nn.Same()), nn.PReLU(nn.PerChannel()), nn.AdaptiveAvgPool2D(s.image/2, s.image/2), nn.Softplus(),
				nn.Conv2D(40, 1), nn.PixelShuffle(2), nn.PReLU())
			in, classes := images(s), index(10, s.batch, s.image, s.image)
			return m, func() *tensor.Tensor { return nn.CrossEntropyLoss(nn.IgnoreIndex(3))(m.Forward(in), classes) }
		}},
		{"uneven windows", tensor.Float32, false, smoke32, gradients32, classify(func(s sizes) nn.Module {
			return nn.Sequential(nn.Conv2D(s.channels, 3, nn.Same()), nn.ReLU(), nn.AdaptiveAvgPool2D(3, 5), nn.Flatten(), nn.Dense(10))
		}, images)},
		{"bags", tensor.Float32, false, smoke32, gradients32, func(s sizes) (any, func() *tensor.Tensor) {
			m, in := nn.Sequential(nn.EmbeddingBag(50, s.width, nn.BagPadding(7)), nn.Dense(10)), index(50, s.batch, s.length)
			classes := index(10, s.batch)
			return m, func() *tensor.Tensor { return nn.CrossEntropy(m.Forward(in), classes) }
		}},
		{"ctc", tensor.Float32, false, smoke32, gradients32, func(s sizes) (any, func() *tensor.Tensor) {
			m, in := nn.Sequential(nn.Dense(12), nn.LogSoftmax(-1)), random(s.batch, 8, s.width)
			labels, all, three := tensor.Ones(s.batch, 3).Cast(tensor.Int32), tensor.Full(8, s.batch).Cast(tensor.Int32), tensor.Full(3, s.batch).Cast(tensor.Int32)
			return m, func() *tensor.Tensor { return nn.CTC(m.Forward(in), labels, all, three) }
		}},
		{"grouped-query attention", tensor.BFloat16, false, smoke16, gradients16, approximate(func(s sizes) nn.Module {
			return nn.Sequential(nn.RMSNorm(), nn.GroupedQueryAttention(heads(s), 1, nn.HeadSize(32), nn.RoPE(10000)))
		}, sequences)},
	}
}

// random returns normally distributed values, the same on every device.
func random(shape ...int) *tensor.Tensor {
	return tensor.Randn(tensor.NewGenerator(11), shape...)
}

// smoked is a model that was trained.
type smoked struct {
	Model      string    `json:"model"`
	Losses     []float64 `json:"losses,omitempty"`
	CPU        []float64 `json:"cpu,omitempty"` // losses of the CPU
	Difference float64   `json:"difference"`    // of the losses, the largest relative one
	Gradients  float64   `json:"gradients"`     // difference of the gradients, relative to their norm
	Tolerance  float64   `json:"tolerance"`
	Error      string    `json:"error,omitempty"`
	Skipped    string    `json:"skipped,omitempty"` // why the device cannot run it
}

// training is what a model computes on a device.
type training struct {
	losses []float64
	// gradients are the products of the gradients of the first step with random vectors, by
	// parameter, and norms are their norms.
	gradients, norms []float64
}

// train trains the model on a device.
func (m smokeModel) train(device string, s sizes) (t training, err error) {
	defer nn.Catch(&err)
	if err := accel.SetDevice(device); err != nil {
		return t, err
	}
	accel.Seed(3)
	model, loss := m.build(s)
	step := func() (y *tensor.Tensor) {
		if m.fp8 {
			tensor.AutocastFP8(func() { y = loss() })
		} else {
			tensor.Autocast(m.dtype, func() { y = loss() })
		}
		return y
	}
	tensor.NoGrad(func() { step() }) // creates the parameters
	optimizer := optim.SGD(model, 0.05)
	if m.tolerance != smoke64 { // the momentum is of type float32
		optimizer = optim.SGD(model, 0.05, optim.Momentum(0.9))
	}
	for i := range smokeSteps {
		y := step()
		optimizer.ZeroGrad()
		y.Backward()
		if i == 0 {
			t.project(nn.Parameters(model))
		}
		optimizer.Step()
		t.losses = append(t.losses, y.Item())
	}
	return t, nil
}

// project stores the gradients of parameters.
func (t *training) project(parameters []*tensor.Tensor) {
	for _, p := range parameters {
		r := rand.New(rand.NewPCG(7, 9))
		product, square := 0.0, 0.0
		if g := p.Grad(); g != nil {
			for _, v := range g.Float64s() {
				product += v * r.NormFloat64()
				square += v * v
			}
		}
		t.gradients, t.norms = append(t.gradients, product), append(t.norms, math.Sqrt(square))
	}
}

// smallest is the norm of gradients, as a fraction of the largest norm in the model, below which
// they consist of rounding errors: those of a bias in front of BatchNorm, for instance.
const smallest = 0.05

// compareGradients returns an error if a gradient differs from that of the CPU, and the largest
// difference.
func compareGradients(got, want training, tolerance float64) (largest float64, err error) {
	if len(got.gradients) != len(want.gradients) || len(want.gradients) == 0 {
		return 0, fmt.Errorf("%d parameters, the CPU has %d", len(got.gradients), len(want.gradients))
	}
	scale := slices.Max(want.norms)
	if scale == 0 {
		return 0, errors.New("the gradients are 0 on the CPU")
	}
	for i := range want.gradients {
		d := max(math.Abs(got.gradients[i]-want.gradients[i]), math.Abs(got.norms[i]-want.norms[i])) / max(want.norms[i], smallest*scale)
		if !(d <= tolerance) {
			return 0, fmt.Errorf("the gradient of parameter %d differs by %.2g of its norm, which is %.3g, and %.3g on the CPU", i, d, got.norms[i], want.norms[i])
		}
		largest = max(largest, d)
	}
	return largest, nil
}

// compare compares the losses with those of the CPU.
func (t *smoked) compare() {
	if len(t.Losses) != len(t.CPU) {
		t.Error = fmt.Sprintf("%d losses, the CPU computes %d", len(t.Losses), len(t.CPU))
		return
	}
	for i, want := range t.CPU {
		d := math.Abs(t.Losses[i]-want) / max(math.Abs(want), 1e-6)
		if !(d <= t.Tolerance) && t.Error == "" {
			t.Error = fmt.Sprintf("the loss of step %d is %g, the CPU computes %g", i+1, t.Losses[i], want)
		}
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			t.Difference = max(t.Difference, d)
		}
	}
	for _, list := range [][]float64{t.Losses, t.CPU} { // JSON has neither NaN nor infinity
		for i, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				list[i] = -1
			}
		}
	}
}

// smoke trains the small models on the device and on the CPU.
func smoke(ctx context.Context, o options, r *report, out io.Writer) error {
	s, list := smokeSizes, smokeModels()
	if o.quick {
		s = quickSizes
	}
	if o.models != "" {
		wanted := strings.Split(o.models, ",")
		list = slices.DeleteFunc(list, func(m smokeModel) bool { return !slices.Contains(wanted, m.name) })
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.name
	}
	return r.each(ctx, o, names, func(i int) error {
		m := list[i]
		t := smoked{Model: m.name, Tolerance: m.tolerance}
		if err := tensor.CheckFP8(); m.fp8 && err != nil {
			t.Skipped = err.Error()
			r.Smoke = append(r.Smoke, t)
			return nil
		}
		got, err := m.train(o.device, s)
		if err == nil {
			var want training
			if want, err = m.train("cpu", s); err == nil {
				t.Losses, t.CPU = got.losses, want.losses
				t.compare()
				t.Gradients, err = compareGradients(got, want, m.gradients)
			}
		}
		if err != nil {
			t.Error = strings.TrimPrefix(t.Error+"; "+err.Error(), "; ")
		}
		r.addSmoked(t, out)
		return accel.SetDevice(o.device)
	})
}

func (r *report) addSmoked(t smoked, out io.Writer) {
	if t.Error != "" {
		r.wrong()
		fmt.Fprintf(out, "WRONG %s: %s\n", t.Model, t.Error)
	}
	r.Smoke = append(r.Smoke, t)
}
