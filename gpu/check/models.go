package main

import (
	"math/rand/v2"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// bench is a model whose training is measured; torch.py defines the same models by name.
type bench struct {
	Name    string `json:"name"`
	Words   string `json:"words"`
	Half    bool   `json:"half"`    // autocast to bfloat16
	Batch   int    `json:"batch"`   // samples
	Image   int    `json:"image"`   // ResNet-9: side of the image in pixels
	Widths  []int  `json:"widths"`  // widths of the MLP's layers, or channels of ResNet-9
	Tokens  int    `json:"tokens"`  // GPT-2: vocabulary size
	Length  int    `json:"length"`  // GPT-2: sequence length
	Layers  int    `json:"layers"`  // GPT-2: number of blocks
	Width   int    `json:"width"`   // GPT-2: embedding dimension
	Heads   int    `json:"heads"`   // GPT-2: attention heads
	Samples int    `json:"samples"` // samples per step, for the throughput
}

func benches(quick bool) []bench {
	if quick {
		return []bench{
			{Name: "mlp", Words: "MLP 20-16-16-10, batch 16", Batch: 16, Widths: []int{20, 16, 16, 10}, Samples: 16},
			{Name: "resnet9", Words: "ResNet-9 8-8-8-8 on 16×16, batch 2, bfloat16", Half: true, Batch: 2, Image: 16, Widths: []int{8, 8, 8, 8}, Samples: 2},
			{Name: "gpt2", Words: "GPT-2 of one layer, T 16, batch 2, bfloat16", Half: true, Batch: 2, Tokens: 32, Length: 16, Layers: 1, Width: 32, Heads: 2, Samples: 32},
		}
	}
	return []bench{
		{Name: "mlp", Words: "MLP 784-512-512-10, batch 512", Batch: 512, Widths: []int{784, 512, 512, 10}, Samples: 512},
		{Name: "resnet9", Words: "ResNet-9 64-128-256-512 on 32×32, batch 512, bfloat16", Half: true, Batch: 512, Image: 32, Widths: []int{64, 128, 256, 512}, Samples: 512},
		{Name: "gpt2", Words: "GPT-2 124M, T 1024, batch 16, bfloat16", Half: true, Batch: 16, Tokens: 50304, Length: 1024, Layers: 12, Width: 768, Heads: 12, Samples: 16 * 1024},
	}
}

// model returns the model of the benchmark.
func (b *bench) model() nn.Module {
	switch b.Name {
	case "mlp":
		chain := nn.Sequential()
		for i, w := range b.Widths[1:] {
			if i > 0 {
				chain.Add(nn.ReLU())
			}
			chain.Add(nn.Dense(w))
		}
		return chain
	case "resnet9":
		return resNet(b.Widths)
	}
	return newGPT(b)
}

func resNet(channels []int) nn.Module {
	layer := func(n int) []nn.Module {
		return []nn.Module{nn.Conv2D(n, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()}
	}
	twice := func(n int) nn.Module { return nn.Residual(append(layer(n), layer(n)...)...) }
	chain := nn.Sequential(layer(channels[0])...)
	chain.Add(layer(channels[1])...).Add(nn.MaxPool2D(2), twice(channels[1]))
	chain.Add(layer(channels[2])...).Add(nn.MaxPool2D(2))
	chain.Add(layer(channels[3])...).Add(nn.MaxPool2D(2), twice(channels[3]))
	return chain.Add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
}

// gpt is GPT-2. The token embedding and the output layer share their weights.
type gpt struct {
	Embedding *tensor.Tensor
	Body      nn.Module
}

func newGPT(b *bench) *gpt {
	block := func(int) nn.Module {
		return nn.Sequential(
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(b.Heads, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(4*b.Width), nn.GELU(), nn.Dense(b.Width)))
	}
	return &gpt{
		Embedding: tensor.Parameter(tensor.Randn(tensor.NewGenerator(1), b.Tokens, b.Width).MulScalar(0.02)),
		Body:      nn.Sequential(nn.PositionEmbedding(b.Length, b.Width), nn.Repeat(b.Layers, block), nn.LayerNorm()),
	}
}

// Forward returns the logits of every position.
func (g *gpt) Forward(ids *tensor.Tensor) *tensor.Tensor {
	x := g.Body.Forward(tensor.Embedding(g.Embedding, ids))
	return x.Reshape(-1, x.Size(-1)).MatMul(g.Embedding.T())
}

// batch returns inputs and labels.
func (b *bench) batch(seed uint64) (x, y *tensor.Tensor) {
	r := rand.New(rand.NewPCG(seed, 3))
	ints := func(of, n int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = r.IntN(of)
		}
		return v
	}
	if b.Name == "gpt2" {
		n := b.Batch * b.Length
		return tensor.FromInts(ints(b.Tokens, n), b.Batch, b.Length), tensor.FromInts(ints(b.Tokens, n), n)
	}
	g := tensor.NewGenerator(seed)
	y = tensor.FromInts(ints(10, b.Batch), b.Batch)
	if b.Name == "mlp" {
		return tensor.Randn(g, b.Batch, b.Widths[0]), y
	}
	return tensor.Randn(g, b.Batch, 3, b.Image, b.Image), y
}
