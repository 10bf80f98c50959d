package count_test

import (
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// trained is a model at full size with a batch.
type trained struct {
	name  string
	size  string // of the model and the batch
	model func() nn.Module
	x     func() *tensor.Tensor
	// y are labels, or targets of a mean squared error.
	y    func() *tensor.Tensor
	loss func(y, target *tensor.Tensor) *tensor.Tensor
}

var all = []trained{
	{
		"mlp", "784-512-512-10, 512 images", func() nn.Module {
			return nn.Sequential(nn.Flatten(), nn.Dense(512), nn.ReLU(), nn.Dense(512), nn.ReLU(), nn.Dense(10))
		},
		zeros(512, 784), ints(512), nn.CrossEntropy,
	},
	{
		"lenet", "LeNet-5, 512 images of 28×28", func() nn.Module {
			return nn.Sequential(nn.Conv2D(6, 5, nn.Same()), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(16, 5), nn.ReLU(), nn.MaxPool2D(2),
				nn.Flatten(), nn.Dense(120), nn.ReLU(), nn.Dense(84), nn.ReLU(), nn.Dense(10))
		},
		zeros(512, 1, 28, 28), ints(512), nn.CrossEntropy,
	},
	{"resnet9", "64 to 512 channels, 512 images of 32×32", resNet9, zeros(512, 3, 32, 32), ints(512), nn.CrossEntropy},
	{"resnet50", "128 images of 224×224", func() nn.Module { return models.ResNet50(1000) }, zeros(128, 3, 224, 224), ints(128), nn.CrossEntropy},
	{
		"gpt2", "124M, 16 sequences of 1024", func() nn.Module { return models.GPT2(models.GPT2Small()) },
		ints(16, 1024), ints(16 * 1024), perToken,
	},
	{
		"bert", "base, 32 sequences of 512", func() nn.Module {
			return models.BERT(models.BERTConfig{VocabSize: 30522, Positions: 512, Width: 768, Inner: 3072, Layers: 12, Heads: 12})
		},
		ints(32, 512), ints(32 * 512), perToken,
	},
	{"vit", "B/16, 64 images of 224×224", func() nn.Module { return models.ViT(models.ViTB16()) }, zeros(64, 3, 224, 224), ints(64), nn.CrossEntropy},
	{"lstm", "2 × 512, 64 sequences of 128", func() nn.Module { return nn.LSTM(512, nn.NumLayers(2)) }, zeros(64, 128, 512), zeros(64, 128, 512), nn.MSE},
	{"unet", "64 to 1024 channels, 16 images of 256×256", func() nn.Module { return uNet(64, 4) }, zeros(16, 3, 256, 256), zeros(16, 1, 256, 256), nn.MSE},
	{"vae", "convolutional, 128 latent values, 256 images of 64×64", newVAE, zeros(256, 3, 64, 64), zeros(256, 3, 64, 64), nn.MSE},
}

func zeros(shape ...int) func() *tensor.Tensor {
	return func() *tensor.Tensor { return tensor.Zeros(shape...) }
}

func ints(shape ...int) func() *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return func() *tensor.Tensor { return tensor.FromInts(make([]int, n), shape...) }
}

// perToken is the cross-entropy of all positions.
func perToken(y, target *tensor.Tensor) *tensor.Tensor {
	rows := y.Reshape(-1, y.Size(-1))
	defer rows.Release()
	return nn.CrossEntropy(rows, target)
}

func convolution(channels int) []nn.Module {
	return []nn.Module{nn.Conv2D(channels, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()}
}

func twice(channels int) []nn.Module {
	return append(convolution(channels), convolution(channels)...)
}

func resNet9() nn.Module {
	chain := nn.Sequential(convolution(64)...)
	chain.Add(convolution(128)...).Add(nn.MaxPool2D(2), nn.Residual(twice(128)...))
	chain.Add(convolution(256)...).Add(nn.MaxPool2D(2))
	chain.Add(convolution(512)...).Add(nn.MaxPool2D(2), nn.Residual(twice(512)...))
	return chain.Add(nn.MaxPool2D(4), nn.Flatten(), nn.Dense(10))
}

// level is a level of a U-Net: Down, then Inside at half the size, then Up of both.
type level struct {
	Down, Pool, Inside, Grow, Up nn.Module
}

func (l *level) Forward(x *tensor.Tensor) *tensor.Tensor {
	skip := l.Down.Forward(x)
	small := l.Pool.Forward(skip)
	inside := l.Inside.Forward(small)
	large := l.Grow.Forward(inside)
	both := tensor.Concat(1, skip, large)
	y := l.Up.Forward(both)
	for _, t := range []*tensor.Tensor{skip, small, inside, large, both} {
		t.Release()
	}
	return y
}

// RetainsNothing is true for the layers of a U-Net.
func (*level) RetainsNothing() bool { return true }

func uNet(channels, levels int) nn.Module {
	inner := nn.Module(nn.Sequential(twice(channels << levels)...))
	for i := levels - 1; i >= 0; i-- {
		c := channels << i
		inner = &level{nn.Sequential(twice(c)...), nn.MaxPool2D(2), inner, nn.ConvTranspose2D(c, 2, nn.Stride(2)), nn.Sequential(twice(c)...)}
	}
	return nn.Sequential(inner, nn.Conv2D(1, 1))
}

// vae is a variational autoencoder.
type vae struct {
	Encoder, Mean, Deviation, Grow, Decoder nn.Module
	random                                  *tensor.Generator
}

func newVAE() nn.Module {
	encoder, decoder := nn.Sequential(), nn.Sequential()
	for _, c := range []int{32, 64, 128, 256} {
		encoder.Add(nn.Conv2D(c, 4, nn.Stride(2), nn.Padding(1)), nn.ReLU())
	}
	for _, c := range []int{128, 64, 32} {
		decoder.Add(nn.ConvTranspose2D(c, 4, nn.Stride(2), nn.Padding(1)), nn.ReLU())
	}
	return &vae{
		encoder.Add(nn.Flatten()), nn.Dense(128), nn.Dense(128), nn.Sequential(nn.Dense(256*4*4), nn.ReLU()),
		decoder.Add(nn.ConvTranspose2D(3, 4, nn.Stride(2), nn.Padding(1))), tensor.NewGenerator(1),
	}
}

func (m *vae) Forward(x *tensor.Tensor) *tensor.Tensor {
	features := m.Encoder.Forward(x)
	mean, log := m.Mean.Forward(features), m.Deviation.Forward(features)
	deviation := log.Exp()
	noise := tensor.Randn(m.random, mean.Shape()...)
	spread := deviation.Mul(noise)
	z := mean.Add(spread)
	grown := m.Grow.Forward(z)
	square := grown.Reshape(-1, 256, 4, 4)
	y := m.Decoder.Forward(square)
	for _, t := range []*tensor.Tensor{features, mean, log, deviation, noise, spread, z, grown, square} {
		t.Release()
	}
	return y
}
