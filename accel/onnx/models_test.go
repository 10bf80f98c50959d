package onnx_test

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// generator generates all examples.
func randn(seed uint64, shape ...int) *tensor.Tensor {
	return tensor.Randn(tensor.NewGenerator(seed), shape...)
}

// tokens returns random indices below a number.
func tokens(below int, shape ...int) *tensor.Tensor {
	g := tensor.NewGenerator(7)
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]int, n)
	for i := range data {
		data[i] = g.Intn(below)
	}
	return tensor.FromInts(data, shape...)
}

func one(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x} }

// parities returns all rows.
func parities() []parity {
	tensors.Seed(1)
	rows := append(append(layerRows(), modelRows()...), quantizedRows()...)
	return append(append(append(rows, opRows()...), hostileRows()...), nonFiniteRows()...)
}

// moved returns a BatchNorm with running statistics.
func moved(shape ...int) nn.Module { return seeing(nn.BatchNorm(), shape...) }

func seeing(n nn.Module, shape ...int) nn.Module {
	for i := range 4 {
		n.Forward(randn(uint64(i), shape...).MulScalar(2).AddScalar(1))
	}
	return n
}

// layerRows tests the layers of package nn one by one.
func layerRows() []parity {
	image := randn(1, 2, 4, 9, 8)
	row := func(name string, layer nn.Module, example *tensor.Tensor, options ...onnx.Option) parity {
		return parity{name: name, model: layer, examples: one(example), covers: []string{name}, options: options}
	}
	named := func(name string, p parity) parity {
		p.name = name
		return p
	}
	batched, embedded := moved(6, 4, 3, 3), nn.Embedding(11, 6)
	return []parity{
		row("Dense", nn.Dense(5), randn(2, 2, 7)),
		row("TiedDense", nn.Sequential(embedded, nn.TiedDense(embedded)), tokens(11, 2, 5)),
		named("dense without bias", row("Dense", nn.Dense(5, nn.NoBias()), randn(2, 2, 7))),
		named("dense of sequences", row("Dense", nn.Dense(5), randn(2, 2, 3, 7), onnx.Axes(0, "batch", "time"))),
		named("dense of sequences without bias", row("Dense", nn.Dense(5, nn.NoBias()), randn(2, 2, 6, 7), onnx.Axes(0, "batch", "time"))),
		row("Conv2D", nn.Conv2D(6, 3), image),
		named("convolution with options", row("Conv2D", nn.Conv2D(6, 3, nn.Stride(2), nn.Padding(2), nn.Dilation(2), nn.Groups(2), nn.NoBias()), image)),
		named("convolution of the same size", row("Conv2D", nn.Conv2D(4, 3, nn.Same()), image)),
		named("convolution of any size", parity{
			model: nn.Sequential(nn.Conv2D(4, 3), nn.MaxPool2D(2), nn.GlobalAvgPool2D()), examples: one(image), options: []onnx.Option{onnx.Axes(0, "batch", "", "height", "width")},
			more: [][]*tensor.Tensor{one(randn(1, 1, 4, 4, 4)), one(randn(1, 3, 4, 11, 6)), one(randn(1, 17, 4, 5, 20))},
		}),
		row("MaxPool2D", nn.MaxPool2D(2), image),
		named("overlapping pool", row("MaxPool2D", nn.MaxPool2D(3, nn.Stride(2), nn.Padding(1)), image)),
		row("AvgPool2D", nn.AvgPool2D(2), image),
		named("overlapping average", row("AvgPool2D", nn.AvgPool2D(3, nn.Stride(2), nn.Padding(1)), image)),
		row("GlobalAvgPool2D", nn.GlobalAvgPool2D(), image),
		row("MaxPool1D", nn.MaxPool1D(3, nn.Stride(2), nn.Padding(1)), randn(4, 2, 4, 7)),
		row("AvgPool1D", nn.AvgPool1D(3, nn.Stride(2), nn.Padding(1)), randn(4, 2, 4, 7)),
		row("GlobalAvgPool1D", nn.GlobalAvgPool1D(), randn(4, 2, 4, 7)),
		row("ReLU", nn.ReLU(), image),
		row("GELU", nn.GELU(), image),
		row("Tanh", nn.Tanh(), image),
		row("Sigmoid", nn.Sigmoid(), image),
		row("SiLU", nn.SiLU(), image),
		row("GELUTanh", nn.GELUTanh(), image),
		named("grouped attention", parity{model: nn.GroupedQueryAttention(4, 2, nn.RoPE(1e4), nn.Causal(), nn.NoBias()), examples: one(randn(7, 2, 5, 8))}),
		named("encoder", parity{model: nn.TransformerEncoderLayer(2, nn.FeedForward(6)), examples: one(randn(7, 2, 5, 8))}),
		row("LeakyReLU", nn.LeakyReLU(0.1), image),
		row("ELU", nn.ELU(1.5), image),
		row("PReLU", nn.PReLU(), image),
		named("slopes of channels", row("PReLU", nn.PReLU(nn.PerChannel()), image)),
		row("Softplus", nn.Softplus(), image),
		row("Softmax", nn.Softmax(-1), image),
		row("LogSoftmax", nn.LogSoftmax(1), image),
		row("Identity", nn.Sequential(nn.Dense(6), nn.Identity()), randn(3, 2, 5)),
		row("ReverseGradient", nn.Sequential(nn.Dense(6), nn.ReverseGradient(0.5)), randn(3, 2, 5)),
		row("AdaptiveAvgPool2D", nn.AdaptiveAvgPool2D(3, 4), image),
		named("uneven windows", row("AdaptiveAvgPool2D", nn.AdaptiveAvgPool2D(4, 5), image)),
		row("PixelShuffle", nn.PixelShuffle(2), image),
		row("Conv1D", nn.Conv1D(3, 3, nn.Stride(2), nn.Same()), randn(4, 2, 4, 7)),
		row("Conv3D", nn.Conv3D(3, 2, nn.Padding(1)), randn(4, 2, 4, 3, 4, 5)),
		row("ConvTranspose1D", nn.ConvTranspose1D(3, 4, nn.Stride(2), nn.Padding(1)), randn(4, 2, 4, 7)),
		row("ConvTranspose2D", nn.ConvTranspose2D(3, 4, nn.Stride(2), nn.Padding(1)), image),
		row("Upsample", nn.Upsample(2), image),
		named("bilinear", row("Upsample", nn.Upsample(2, nn.Bilinear()), image)),
		row("GroupNorm", nn.GroupNorm(2), image),
		row("InstanceNorm", nn.InstanceNorm(), image),
		row("Flatten", nn.Flatten(), image),
		row("Unflatten", nn.Unflatten(2, 3, 4), randn(4, 3, 24)),
		row("Dropout", nn.Sequential(nn.Dense(6), nn.Dropout(0.5)), randn(3, 2, 5)),
		named("dropout of everything", row("Dropout", nn.Sequential(nn.Dense(6), nn.Dropout(1)), randn(3, 2, 5))),
		row("Dropout2D", nn.Sequential(nn.Conv2D(6, 3), nn.Dropout2D(0.5)), image),
		row("BatchNorm", batched, image),
		row("SyncBatchNorm", seeing(nn.SyncBatchNorm(), 6, 4, 3, 3), image),
		named("batch norm of rows", row("BatchNorm", moved(6, 4), randn(3, 2, 4))),
		row("LayerNorm", nn.LayerNorm(), randn(4, 2, 3, 8)),
		named("layer norm of rows", row("LayerNorm", nn.LayerNorm(), randn(4, 2, 8))),
		named("layer norm of sequences", row("LayerNorm", nn.LayerNorm(), randn(4, 2, 5, 8), onnx.Axes(0, "batch", "time"))),
		row("RMSNorm", nn.RMSNorm(), randn(5, 2, 3, 8)),
		row("Embedding", nn.Embedding(11, 6), tokens(11, 2, 5)),
		named("embedding of floats", parity{
			model: nn.Embedding(11, 6), examples: one(tokens(11, 2, 5).Cast(tensor.Float32)), options: []onnx.Option{onnx.Axes(0, "batch", "time")},
			more: [][]*tensor.Tensor{one(tokens(11, 1, 1).Cast(tensor.Float32)), one(tokens(11, 3, 8).Cast(tensor.Float32)), one(tokens(11, 17, 5).Cast(tensor.Float32))},
		}),
		named("embedding of int64", row("Embedding", nn.Embedding(11, 6), tokens(11, 2, 5).Cast(tensor.Int64))),
		named("embedding of bytes", row("Embedding", nn.Embedding(11, 6), tokens(11, 2, 5).Cast(tensor.Uint8))),
		row("EmbeddingBag", nn.EmbeddingBag(11, 6), tokens(11, 2, 5)),
		named("sum of a bag with padding", row("EmbeddingBag", nn.EmbeddingBag(11, 6, nn.BagSum(), nn.BagPadding(2)), tokens(11, 2, 5), onnx.Axes(0, "batch", "time"))),
		named("mean of a bag with padding", row("EmbeddingBag", nn.EmbeddingBag(11, 6, nn.BagPadding(2)), tokens(11, 2, 5))),
		named("maximum of a bag with padding", row("EmbeddingBag", nn.EmbeddingBag(11, 6, nn.BagMax(), nn.BagPadding(2)), tokens(11, 2, 5))),
		row("PositionEmbedding", nn.PositionEmbedding(9, 6), randn(6, 2, 5, 6)),
		named("places of any length", parity{
			model: nn.PositionEmbedding(9, 6), examples: one(randn(6, 2, 9, 6)), options: []onnx.Option{onnx.Axes(0, "batch", "time")},
			more: [][]*tensor.Tensor{one(randn(6, 1, 1, 6)), one(randn(6, 3, 8, 6)), one(randn(6, 0, 4, 6))},
		}),
		row("SelfAttention", nn.SelfAttention(2), randn(7, 2, 5, 8)),
		named("causal attention", row("SelfAttention", nn.SelfAttention(2, nn.Causal()), randn(7, 2, 5, 8))),
		row("RNN", nn.RNN(5, nn.WithReLU(), nn.Bidirectional()), randn(7, 2, 4, 3)),
		row("MeanPositions", nn.MeanPositions(), randn(7, 2, 5, 8)),
		row("LastPosition", nn.LastPosition(), randn(7, 2, 5, 8)),
		row("LSTM", nn.LSTM(5, nn.NumLayers(2), nn.LayerDropout(0.5)), randn(7, 2, 4, 3)),
		row("GRU", nn.GRU(5, nn.Bidirectional(), nn.LastOutput()), randn(7, 2, 4, 3)),
		named("last outputs of both directions", row("LSTM", nn.LSTM(5, nn.NumLayers(2), nn.Bidirectional(), nn.LastOutput()), randn(7, 2, 4, 3))),
		named("sequences from the end", row("Lambda", nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Flip(1).Slice(1, 0, 1) }), randn(7, 2, 4, 3), onnx.Axes(0, "batch", "time"))),
		recurrentOfLengths(),
		row("Sequential", nn.Sequential(nn.Dense(3), nn.Sequential(nn.Tanh(), nn.Dense(2))), randn(8, 2, 4)),
		named("empty chain", row("Sequential", nn.Sequential(), randn(8, 2, 4))),
		row("Residual", nn.Residual(nn.Dense(4), nn.ReLU()), randn(8, 2, 4)),
		row("Repeat", nn.Repeat(3, func(int) nn.Module { return nn.Dense(4) }), randn(8, 2, 4)),
		row("Recompute", nn.Recompute(nn.Dense(4), nn.ReLU(), nn.Dense(2)), randn(8, 2, 4)),
		row("Lambda", nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Add(x.Sin()) }), randn(8, 2, 4)),
		row("Pack", nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
			parts := nn.Unpack(x, []int{2}, []int{1, 3})
			return nn.Pack(parts[1].Exp(), parts[0])
		}), randn(8, 2, 5)),
	}
}

// recurrentOfLengths has the lengths of the sequences as its second input, and all results.
func recurrentOfLengths() parity {
	lstm := nn.LSTM(5, nn.Bidirectional())
	example, lengths := randn(7, 2, 4, 3), tensor.FromInts([]int{4, 2}, 2)
	lstm.Forward(example)
	return parity{name: "LSTM of padded sequences", covers: []string{"Run"}, examples: []*tensor.Tensor{example, lengths}, options: []onnx.Option{onnx.Uses(lstm)},
		function: func(in []*tensor.Tensor) []*tensor.Tensor {
			y, final := lstm.Run(in[0], nn.RecurrentState{}, in[1])
			return []*tensor.Tensor{y, final.H, final.C}
		}}
}

// block returns a transformer block.
func block(width, heads int) nn.Module {
	return nn.Sequential(
		nn.Residual(nn.LayerNorm(), nn.SelfAttention(heads, nn.Causal())),
		nn.Residual(nn.LayerNorm(), nn.Dense(4*width), nn.GELU(), nn.Dense(width)),
	)
}

// resNet9 returns ResNet-9 with fewer channels.
func resNet9() nn.Module {
	conv := func(out int, more ...nn.Module) nn.Module {
		return nn.Sequential(nn.Conv2D(out, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()).Add(more...)
	}
	return nn.Sequential(
		conv(8), conv(16, nn.MaxPool2D(2)), nn.Residual(conv(16), conv(16)),
		conv(24, nn.MaxPool2D(2)), conv(32, nn.MaxPool2D(2)), nn.Residual(conv(32), conv(32)),
		nn.MaxPool2D(4), nn.Flatten(), nn.Dense(10, nn.NoBias()),
	)
}

// blend is a model with fields, Go code and tensors of its own.
type blend struct {
	up, gate, down nn.Module
	scale          *tensor.Tensor
	parts          []nn.Module
}

func newBlend() *blend {
	return &blend{
		up: nn.Dense(12), gate: nn.Dense(12), down: nn.Dense(6), scale: randn(3, 6),
		parts: []nn.Module{nn.RMSNorm(), nn.LayerNorm()},
	}
}

func (b *blend) Forward(x *tensor.Tensor) *tensor.Tensor {
	n, t := x.Size(0), x.Size(1)
	h := b.up.Forward(x).Mul(b.gate.Forward(x).SiLU())
	h = h.Reshape(n*t, 3, 4).Permute(0, 2, 1).Reshape(n, t, 12)
	for _, p := range b.parts {
		h = p.Forward(h)
	}
	y := b.down.Forward(h).Mul(b.scale)
	mean := y.Mean(1).Reshape(n, 1, 6)
	return tensor.Concat(1, y.Sub(mean), tensor.Zeros(n, 1, 6)).Slice(1, 1, t+1)
}

// modelRows tests whole models.
func modelRows() []parity {
	autoencoder := nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(3), nn.Tanh(), nn.Dense(16), nn.ReLU(), nn.Dense(20), nn.Sigmoid())
	cnn := nn.Sequential(
		nn.Conv2D(8, 3, nn.Padding(1)), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Residual(nn.Conv2D(8, 3, nn.Same()), nn.BatchNorm(), nn.ReLU()), nn.AvgPool2D(2), nn.Flatten(), nn.Dropout(0.3), nn.Dense(10))
	nine := resNet9()
	for i := range 3 { // changes the running statistics
		cnn.Forward(randn(uint64(i), 8, 3, 12, 12).AddScalar(0.5))
		nine.Forward(randn(uint64(i), 4, 3, 32, 32).AddScalar(0.5))
	}
	gpt := nn.Sequential(nn.Embedding(17, 16), nn.PositionEmbedding(24, 16)).Add(
		nn.Repeat(2, func(int) nn.Module { return block(16, 4) }), nn.LayerNorm(), nn.Dense(17))
	return []parity{
		{name: "mlp", model: nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10)), examples: one(randn(1, 4, 1, 8, 8))},
		{name: "cnn", model: cnn, examples: one(randn(2, 4, 3, 12, 12))},
		{name: "resnet9", model: nine, examples: one(randn(3, 1, 3, 32, 32))},
		{name: "transformer block", model: block(16, 4), examples: one(randn(4, 2, 7, 16)), options: []onnx.Option{onnx.Axes(0, "batch", "time")}},
		{name: "chargpt", model: gpt, examples: one(tokens(17, 2, 24)), options: []onnx.Option{onnx.Axes(0, "batch", "time"), onnx.Inputs("tokens"), onnx.Outputs("logits")},
			more: [][]*tensor.Tensor{one(tokens(17, 1, 24)), one(tokens(17, 3, 9)), one(tokens(17, 17, 1))}},
		{name: "autoencoder", model: autoencoder, examples: one(randn(5, 3, 20))},
		{name: "a struct of the user's", model: newBlend(), examples: one(randn(6, 2, 5, 8)), options: []onnx.Option{onnx.Axes(0, "batch", "time")},
			more: [][]*tensor.Tensor{one(randn(6, 1, 1, 8)), one(randn(6, 17, 3, 8)), one(randn(6, 0, 3, 8))}},
	}
}
