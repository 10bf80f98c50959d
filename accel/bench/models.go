package main

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func mlp() nn.Module { return mlpOf([]int{256, 128, 10}) }

func mlpOf(widths []int) nn.Module {
	chain := nn.Sequential(nn.Flatten(), nn.Dense(widths[0]))
	for _, w := range widths[1:] {
		chain.Add(nn.ReLU(), nn.Dense(w))
	}
	return chain
}

func cnn() nn.Module {
	return nn.Sequential(
		nn.Conv2D(16, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(32, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dense(10))
}

// resNet is ResNet-9 with its usual channels, for images of 28×28.
func resNet() nn.Module { return resNetOf([4]int{64, 128, 256, 512}, 3) }

// resNetOf is ResNet-9 whose last pooling layer has a window of last×last, an eighth of the image.
func resNetOf(c [4]int, last int) nn.Module {
	chain := nn.Sequential(convBlock(c[0])...)
	chain.Add(convBlock(c[1])...).Add(nn.MaxPool2D(2), nn.Residual(append(convBlock(c[1]), convBlock(c[1])...)...))
	chain.Add(convBlock(c[2])...).Add(nn.MaxPool2D(2))
	chain.Add(convBlock(c[3])...).Add(nn.MaxPool2D(2), nn.Residual(append(convBlock(c[3]), convBlock(c[3])...)...))
	return chain.Add(nn.MaxPool2D(last), nn.Flatten(), nn.Dense(10))
}

func convBlock(channels int) []nn.Module {
	return []nn.Module{nn.Conv2D(channels, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()}
}

func block() nn.Module { return blockOf(width, heads) }

func blockOf(width, heads int) nn.Module {
	return nn.Sequential(
		nn.Residual(nn.LayerNorm(), nn.SelfAttention(heads, nn.Causal())),
		nn.Residual(nn.LayerNorm(), nn.Dense(4*width), nn.GELU(), nn.Dense(width)))
}

func lstm() nn.Module { return lstmOf(recurrentWidth) }

func lstmOf(width int) nn.Module { return nn.LSTM(width, nn.NumLayers(recurrentLayers)) }

func encoder() nn.Module {
	return nn.Repeat(encoderLayers, func(int) nn.Module {
		return nn.TransformerEncoderLayer(heads, nn.FeedForward(4*recurrentWidth), nn.TransformerDropout(0))
	})
}

// gptSizes are the sizes of a GPT-2.
type gptSizes struct{ tokens, length, layers, width, heads int }

// gpt is GPT-2. The token embedding and the output layer share their weights.
type gpt struct {
	Embedding *tensor.Tensor
	Body      nn.Module
}

func newGPT(s gptSizes) *gpt {
	block := func(int) nn.Module { return blockOf(s.width, s.heads) }
	return &gpt{
		Embedding: tensor.Parameter(tensor.Randn(tensor.NewGenerator(1), s.tokens, s.width).MulScalar(0.02)),
		Body:      nn.Sequential(nn.PositionEmbedding(s.length, s.width), nn.Repeat(s.layers, block), nn.LayerNorm()),
	}
}

// Forward returns the logits of every position.
func (g *gpt) Forward(ids *tensor.Tensor) *tensor.Tensor {
	x := g.Body.Forward(tensor.Embedding(g.Embedding, ids))
	return x.Reshape(-1, x.Size(-1)).MatMul(g.Embedding.T())
}
