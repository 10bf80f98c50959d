package onnx_test

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
)

// tied computes logits with the transpose of its embedding.
type tied struct {
	tokens nn.Module
	output *nn.DenseLayer
	twice  nn.Module
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := m.tokens.Forward(x)
	if m.output.Weight == nil {
		m.output.Weight = nn.Parameters(m.tokens)[0]
	}
	return m.output.Forward(m.twice.Forward(m.twice.Forward(h)))
}

// hostileRows are models that are difficult to export.
func hostileRows() []parity {
	type T = *tensor.Tensor
	empty := nn.Sequential(nn.Conv2D(3, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4), nn.LayerNorm())
	shared := nn.Dense(4)
	w := randn(1, 4, 4)
	return []parity{
		{name: "tied weights", model: &tied{tokens: nn.Embedding(9, 6), output: nn.Dense(9, nn.NoBias()), twice: nn.Dense(6)}, examples: one(tokens(9, 2, 5))},
		{name: "a layer used twice", model: nn.Sequential(shared, nn.ReLU(), shared), examples: one(randn(1, 2, 4))},
		{name: "two inputs and two outputs", examples: []T{randn(1, 2, 4), randn(2, 2, 3)},
			function: func(in []T) []T { return []T{tensor.Concat(1, in[0], in[1]), in[0].Sum(1)} },
			options:  []onnx.Option{onnx.Inputs("a", "b"), onnx.Outputs("joined", "sum")}},
		{name: "an output twice, an input, a weight", examples: one(randn(1, 2, 4)),
			function: func(in []T) []T { y := in[0].Neg(); return []T{y, y, in[0], w} }},
		{name: "folded", examples: one(randn(1, 2, 4)),
			function: func(in []T) []T { return one(in[0].MatMul(w.MatMul(w).AddScalar(1).T())) }},
		{name: "no examples", model: empty, examples: one(randn(1, 2, 2, 6, 6)), more: [][]T{one(randn(1, 0, 2, 6, 6))}},
		{name: "a single number", examples: one(randn(1, 3, 4)), function: func(in []T) []T { return one(in[0].Square().Mean()) }},
		{name: "a batch that stays", model: nn.Dense(3), examples: one(randn(1, 4, 5)), options: []onnx.Option{onnx.Axes(0)}, more: [][]T{one(randn(2, 4, 5))}},
		{name: "a scalar input", examples: []T{randn(1, 3, 4), tensor.Full(2)}, function: func(in []T) []T { return one(in[0].Mul(in[1])) },
			more: [][]T{{randn(1, 17, 4), tensor.Full(3)}}},
		{name: "external data", model: nn.Sequential(nn.Dense(64), nn.ReLU(), nn.Dense(64)), examples: one(randn(1, 2, 64)),
			options: []onnx.Option{onnx.ExternalData()}, external: true},
		{name: "weights of bytes", model: ofBytes(nn.Sequential(nn.Dense(8), nn.ReLU(), nn.Dense(3)), randn(1, 2, 6)), examples: one(randn(1, 2, 6))},
		{name: "weights of bytes of sequences", model: ofBytes(nn.Sequential(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal()), nn.Dense(3)), randn(1, 2, 5, 6)),
			examples: one(randn(1, 2, 5, 6)), options: []onnx.Option{onnx.Axes(0, "batch", "time")}},
		{name: "recurrent", model: newRecurrent(), examples: one(randn(1, 2, 5, 3))},
		{name: "a tensor that is filled on the way", examples: one(randn(1, 2, 4)), function: func(in []T) []T {
			sum := tensor.Zeros(in[0].Size(0), 4)
			for range 3 {
				sum.Assign(sum.MulScalar(0.5).Add(in[0]))
			}
			return one(sum.MulScalar(1 / float64(in[0].Size(0))))
		}},
		{name: "a weight that is seen in many ways", examples: one(randn(1, 2, 4)), function: func(in []T) []T {
			return one(in[0].MatMul(w.T()).Add(in[0].MatMul(w.Detach())).Add(w.Slice(0, 1, 2)).Mul(w.Reshape(16).Slice(0, 3, 7)))
		}},
		{name: "recomputed", model: recomputed(), examples: one(randn(1, 2, 4))},
		{name: "places in Go", examples: one(randn(1, 2, 6, 4)), options: []onnx.Option{onnx.Axes(0, "batch", "time")}, function: positionsInGo},
		{name: "few places in Go", examples: one(randn(1, 2, 2, 4)), options: []onnx.Option{onnx.Axes(0, "batch", "time")}, function: positionsInGo,
			more: [][]T{one(randn(1, 3, 9, 4)), one(randn(1, 1, 1, 4))}},
		{name: "float64", examples: one(randn(1, 2, 6).Cast(tensor.Float64)), tolerance: 1e-12, function: func(in []T) []T {
			x := in[0]
			w, b := randn(2, 5, 6).Cast(tensor.Float64), randn(3, 5).Cast(tensor.Float64)
			y := tensor.LayerNorm(tensor.Linear(x, w, b).ReLU(), nil, nil, 1, 1e-5)
			return one(y.Softmax(1).Add(x.Mean().Tanh()))
		}},
		{name: "float64 gelu", examples: one(randn(1, 2, 6).Cast(tensor.Float64)), function: func(in []T) []T { return one(in[0].GELU()) },
			unrunnable: "onnxruntime has Gelu for float32 alone"},
		{name: "float16", model: newHalved(tensor.Float16), examples: one(randn(1, 2, 6).Cast(tensor.Float16)), tolerance: 2e-3},
		{name: "bfloat16", model: newHalved(tensor.BFloat16), examples: one(randn(1, 2, 6)), tolerance: 2e-2},
		{name: "autocast within", examples: one(randn(1, 2, 6)), tolerance: 1e-2, function: func(in []T) []T {
			var y T
			tensor.Autocast(tensor.BFloat16, func() { y = in[0].MatMul(randn(2, 6, 5)).Softmax(1) })
			return one(y)
		}},
	}
}

// toFloat16 converts the parameters to 16-bit floats.
type toFloat16 struct {
	Up, Down, Scale *tensor.Tensor
}

func newHalved(d tensor.DType) *toFloat16 {
	return &toFloat16{randn(2, 8, 6).Cast(d), randn(3, 3, 8).Cast(d), randn(4, 8).Cast(d)}
}

func (h *toFloat16) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := tensor.Linear(x.Cast(h.Up.DType()), h.Up, nil).GELU()
	y = tensor.RMSNorm(y, h.Scale, 1, 1e-5)
	return tensor.Linear(y, h.Down, nil).Softmax(1).Cast(tensor.Float32)
}

func recomputed() nn.Module {
	m := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(4), nn.Tanh(), nn.Dense(2))
	m.Forward(randn(1, 2, 4))
	nn.SetRecompute(m, true)
	return m
}

// recurrent processes a sequence step by step.
type recurrent struct {
	in, state, out nn.Module
}

func newRecurrent() *recurrent { return &recurrent{nn.Dense(6), nn.Dense(6, nn.NoBias()), nn.Dense(2)} }

func (r *recurrent) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := tensor.Zeros(x.Size(0), 6)
	for t := range x.Size(1) {
		h = r.in.Forward(x.Slice(1, t, t+1).Reshape(-1, 3)).Add(r.state.Forward(h)).Tanh()
	}
	return r.out.Forward(h)
}

// ofBytes returns a model with quantized weights.
func ofBytes(model nn.Module, x *tensor.Tensor) nn.Module {
	model.Forward(x)
	small, err := quantize.WeightOnly(model)
	if err != nil {
		panic(err) // fails the test
	}
	return small
}

// positionsInGo fills a tensor with the positions of a sequence in Go.
func positionsInGo(in []*tensor.Tensor) []*tensor.Tensor {
	t := in[0].Size(1)
	at := make([]int, t)
	for i := range at {
		at[i] = i
	}
	return one(in[0].Add(randn(5, 32, 4).IndexSelect(tensor.FromInts(at, 1, t))).Add(tensor.Full(0.5, in[0].Size(0), t, 1)))
}
