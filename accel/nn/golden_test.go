package nn_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// goldenTensor is a tensor in a golden file.
type goldenTensor struct {
	Shape    []int
	Data     []float64
	Gradient []float64
}

func asTensors(of map[string]goldenTensor) map[string]*nn.Tensor {
	all := map[string]*nn.Tensor{}
	for name, n := range of {
		data := make([]float32, len(n.Data))
		for i := range data {
			data[i] = float32(n.Data[i])
		}
		all[name] = tensor.New(data, n.Shape...)
	}
	return all
}

func TestModulesEqualPyTorch(t *testing.T) {
	compareModules(t, "modules.json", map[string]func() nn.Module{
		"conv":             func() nn.Module { return nn.Conv2D(6, 3) },
		"conv same":        func() nn.Module { return nn.Conv2D(3, 3, nn.Same()) },
		"conv stride":      func() nn.Module { return nn.Conv2D(2, 3, nn.Stride(2), nn.Padding(1), nn.NoBias()) },
		"conv groups":      func() nn.Module { return nn.Conv2D(6, 2, nn.Groups(2), nn.Dilation(2)) },
		"conv depthwise":   func() nn.Module { return nn.Conv2D(4, 3, nn.Groups(4), nn.Same()) },
		"max pool":         func() nn.Module { return nn.MaxPool2D(2) },
		"max pool stride":  func() nn.Module { return nn.MaxPool2D(3, nn.Stride(2), nn.Padding(1)) },
		"avg pool":         func() nn.Module { return nn.AvgPool2D(2, nn.Padding(1)) },
		"batch norm":       nn.BatchNorm,
		"batch norm rows":  nn.BatchNorm,
		"layer norm":       func() nn.Module { return nn.LayerNorm() },
		"rms norm":         func() nn.Module { return nn.RMSNorm() },
		"attention":        func() nn.Module { return nn.SelfAttention(2) },
		"causal attention": func() nn.Module { return nn.SelfAttention(2, nn.Causal()) },
		"positions":        func() nn.Module { return nn.PositionEmbedding(5, 6) },
		"embedding":        func() nn.Module { return nn.Embedding(7, 3) },
	})
}

func TestMoreModulesEqualPyTorch(t *testing.T) {
	compareModules(t, "more_modules.json", map[string]func() nn.Module{
		"group norm":            func() nn.Module { return nn.GroupNorm(2) },
		"group norm rows":       func() nn.Module { return nn.GroupNorm(2) },
		"instance norm":         nn.InstanceNorm,
		"silu":                  nn.SiLU,
		"leaky relu":            func() nn.Module { return nn.LeakyReLU(0.1) },
		"elu":                   func() nn.Module { return nn.ELU(1.5) },
		"gelu tanh":             nn.GELUTanh,
		"layer norm epsilon":    func() nn.Module { return nn.LayerNorm(nn.Epsilon(0.1)) },
		"identity":              nn.Identity,
		"softplus":              nn.Softplus,
		"softmax":               func() nn.Module { return nn.Softmax(-1) },
		"softmax of channels":   func() nn.Module { return nn.Softmax(1) },
		"log softmax":           func() nn.Module { return nn.LogSoftmax(-1) },
		"prelu":                 func() nn.Module { return nn.PReLU() },
		"prelu of channels":     func() nn.Module { return nn.PReLU(nn.PerChannel()) },
		"adaptive pool":         func() nn.Module { return nn.AdaptiveAvgPool2D(3, 5) },
		"adaptive pool, uneven": func() nn.Module { return nn.AdaptiveAvgPool2D(4, 3) },
		"adaptive pool, larger": func() nn.Module { return nn.AdaptiveAvgPool2D(7, 11) },
		"adaptive pool of one":  func() nn.Module { return nn.AdaptiveAvgPool2D(1, 1) },
		"pixel shuffle":         func() nn.Module { return nn.PixelShuffle(2) },
		"pixel shuffle of 1":    func() nn.Module { return nn.PixelShuffle(1) },
		"bag":                   func() nn.Module { return nn.EmbeddingBag(7, 3) },
		"bag, sum":              func() nn.Module { return nn.EmbeddingBag(7, 3, nn.BagSum()) },
		"bag, max":              func() nn.Module { return nn.EmbeddingBag(7, 3, nn.BagMax()) },
		"bag, padding":          func() nn.Module { return nn.EmbeddingBag(7, 3, nn.BagPadding(1)) },
		"bag, sum, padding":     func() nn.Module { return nn.EmbeddingBag(7, 3, nn.BagSum(), nn.BagPadding(1)) },
		"bag, max, padding":     func() nn.Module { return nn.EmbeddingBag(7, 3, nn.BagMax(), nn.BagPadding(1)) },
	})
}

func TestConvolutionsEqualPyTorch(t *testing.T) {
	compareModules(t, "convolutions.json", map[string]func() nn.Module{
		"conv1d":        func() nn.Module { return nn.Conv1D(6, 3, nn.Stride(2), nn.Padding(1)) },
		"conv1d groups": func() nn.Module { return nn.Conv1D(6, 3, nn.Groups(2), nn.Dilation(2), nn.Same(), nn.NoBias()) },
		"conv3d":        func() nn.Module { return nn.Conv3D(3, 2) },
		"conv3d all":    func() nn.Module { return nn.Conv3D(6, 3, nn.Stride(2), nn.Padding(1), nn.Groups(2)) },
		"conv3d dilation": func() nn.Module {
			return nn.Conv3D(2, 2, nn.Dilation(2), nn.Padding(1), nn.NoBias())
		},
		"transpose1d": func() nn.Module { return nn.ConvTranspose1D(3, 4, nn.Stride(2), nn.Padding(1)) },
		"transpose2d": func() nn.Module {
			return nn.ConvTranspose2D(6, 3, nn.Stride(2), nn.Padding(1), nn.OutputPadding(1), nn.Groups(2))
		},
		"nearest":          func() nn.Module { return nn.Upsample(2) },
		"nearest sequence": func() nn.Module { return nn.Upsample(3) },
		"bilinear":         func() nn.Module { return nn.Upsample(2, nn.Bilinear()) },
		"bilinear 3":       func() nn.Module { return nn.Upsample(3, nn.Bilinear()) },
	})
}

// compareModules compares outputs and gradients with those in a golden file.
func compareModules(t *testing.T, file string, makers map[string]func() nn.Module) {
	t.Helper()
	var g struct {
		Modules map[string]struct {
			Parameters       map[string]goldenTensor
			Shape, Out       []int
			X, DX, Y, Weight []float64
			Running          map[string][]float64
			Evaluated        []float64
		}
	}
	read(t, file, &g)
	if got, want := slices.Sorted(maps.Keys(makers)), slices.Sorted(maps.Keys(g.Modules)); !slices.Equal(got, want) {
		t.Fatalf("modules %v, in the golden file %v", got, want)
	}
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			c := g.Modules[name]
			m := make()
			start := asTensors(c.Parameters)
			if len(c.Running) > 0 {
				channels := c.Shape[1]
				start["running_mean"], start["running_var"] = tensor.Zeros(channels), tensor.Ones(channels)
			}
			if err := nn.SetState(m, start); err != nil {
				t.Fatal(err)
			}
			x := of(c.X, c.Shape...)
			if c.DX != nil {
				x = tensor.Parameter(x)
			}
			y := m.Forward(x)
			if !slices.Equal(y.Shape(), c.Out) {
				t.Fatalf("shape: want %v, got %v", c.Out, y.Shape())
			}
			closeTo(t, "y", y.Float64s(), c.Y, 2e-6)
			y.Mul(of(c.Weight, c.Out...)).Sum().Backward()
			if c.DX != nil {
				closeTo(t, "dx", x.Grad().Float64s(), c.DX, 5e-6)
			}
			for _, p := range nn.NamedParameters(m) {
				want, ok := c.Parameters[p.Name]
				if !ok {
					t.Fatalf("%s is not in the golden file", p.Name)
				}
				closeTo(t, p.Name, p.Grad().Float64s(), want.Gradient, 5e-6)
			}
			nn.Train(m, false)
			if c.Evaluated != nil {
				for _, p := range nn.State(m) {
					if want := c.Running[p.Name]; want != nil {
						closeTo(t, p.Name, p.Float64s(), want, 1e-6)
					}
				}
				closeTo(t, "evaluated", m.Forward(x).Float64s(), c.Evaluated, 2e-6)
			}
		})
	}
}

// TestTrainingEqualsPyTorch compares the losses of ten steps.
func TestTrainingEqualsPyTorch(t *testing.T) {
	var g struct {
		Models map[string]struct {
			Shape      []int
			X          []float64
			Labels     []int
			Parameters map[string]goldenTensor
			Losses     []float64
		}
	}
	read(t, "training.json", &g)
	mlp := func() *nn.SequentialLayer { return nn.Sequential(nn.Dense(6), nn.GELU(), nn.Dense(3)) }
	cnn := func() *nn.SequentialLayer {
		return nn.Sequential(
			nn.Conv2D(4, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
			nn.Conv2D(6, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(3))
	}
	gpt := func() *nn.SequentialLayer {
		return nn.Sequential(
			nn.Embedding(9, 8), nn.PositionEmbedding(6, 8),
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(16), nn.GELU(), nn.Dense(8)),
			nn.LayerNorm(), nn.Dense(9))
	}
	type setting struct {
		model    func() *nn.SequentialLayer
		optimize func(model any) *optim.Optimizer
		schedule optim.Schedule
	}
	sgd := func(rate float64, options ...optim.Option) func(any) *optim.Optimizer {
		return func(m any) *optim.Optimizer { return optim.SGD(m, rate, options...) }
	}
	constant := optim.Constant()
	settings := map[string]setting{
		"cnn adamw":     {cnn, func(m any) *optim.Optimizer { return optim.AdamW(m, 0.01) }, constant},
		"gpt adamw":     {gpt, func(m any) *optim.Optimizer { return optim.AdamW(m, 0.01) }, constant},
		"mlp sgd":       {mlp, sgd(0.1), constant},
		"mlp momentum":  {mlp, sgd(0.1, optim.Momentum(0.9)), constant},
		"mlp nesterov":  {mlp, sgd(0.1, optim.Momentum(0.9), optim.Nesterov()), constant},
		"mlp adam":      {mlp, func(m any) *optim.Optimizer { return optim.Adam(m, 0.02) }, constant},
		"mlp lamb":      {mlp, func(m any) *optim.Optimizer { return optim.LAMB(m, 0.02) }, constant},
		"mlp cosine":    {mlp, sgd(0.2), optim.WarmupCosine(0, 10)},
		"mlp one cycle": {mlp, sgd(0.2, optim.Momentum(0.9)), optim.OneCycleLR(10)},
		"mlp step":      {mlp, sgd(0.2), optim.StepLR(3, 0.5)},
	}
	if got, want := slices.Sorted(maps.Keys(settings)), slices.Sorted(maps.Keys(g.Models)); !slices.Equal(got, want) {
		t.Fatalf("settings %v, in the golden file %v", got, want)
	}
	for name, s := range settings {
		t.Run(name, func(t *testing.T) {
			c := g.Models[name]
			model := s.model()
			start := asTensors(c.Parameters)
			if _, ok := start["1.weight"]; ok && name[:3] == "cnn" {
				start["1.running_mean"], start["1.running_var"] = tensor.Zeros(4), tensor.Ones(4)
			}
			if err := nn.SetState(model, start); err != nil {
				t.Fatal(err)
			}
			x, y := of(c.X, c.Shape...), tensor.FromInts(c.Labels, len(c.Labels))
			if name[:3] == "gpt" {
				y = y.Reshape(c.Shape...)
			}
			opt := s.optimize(model)
			rate := opt.LearningRate()
			for step, want := range c.Losses {
				opt.SetLearningRate(rate * s.schedule.Factor(step))
				opt.ZeroGrad()
				loss := nn.CrossEntropy(model.Forward(x), y)
				loss.Backward()
				opt.Step()
				if got := loss.Item(); !(math.Abs(got-want) <= 2e-5*max(1, math.Abs(want))) {
					t.Errorf("loss of step %d\n want %v\n got  %v", step+1, want, got)
				}
			}
		})
	}
}
