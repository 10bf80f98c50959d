package models

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ViTConfig is the size of a [ViT].
type ViTConfig struct {
	ImageSize, PatchSize int // pixels; the images are square
	Width, Inner         int // of the vectors, and between the linear layers
	Layers, Heads        int // heads of attention, in each layer
	Classes              int // outputs of Head
}

// ViTB16 is the configuration of torchvision's vit_b_16 with 86 million parameters.
func ViTB16() ViTConfig {
	return ViTConfig{ImageSize: 224, PatchSize: 16, Width: 768, Inner: 3072, Layers: 12, Heads: 12, Classes: 1000}
}

// ViTModel is a vision transformer (Dosovitskiy et al., 2021); [ViT] returns it. Its parameters have
// torchvision's names. It has no dropouts.
type ViTModel struct {
	config     ViTConfig
	ClassToken *tensor.Tensor       `nn:"class_token"`           // [1, 1, width]
	Patches    nn.Module            `nn:"conv_proj"`             // convolution whose kernel and stride are PatchSize
	Positions  *tensor.Tensor       `nn:"encoder.pos_embedding"` // [1, patches + 1, width]
	Blocks     map[string]*vitBlock `nn:"encoder.layers"`        // encoder_layer_0, encoder_layer_1 and so on
	FinalNorm  nn.Module            `nn:"encoder.ln"`            // before Head
	Head       nn.Module            `nn:"heads.head"`            // linear layer to the classes, from the class token
}

type vitBlock struct {
	Norm1     nn.Module `nn:"ln_1"`
	Attention nn.Module `nn:"self_attention"`
	Norm2     nn.Module `nn:"ln_2"`
	Up        nn.Module `nn:"mlp.0"`
	Down      nn.Module `nn:"mlp.3"`
}

// ViT returns a vision transformer with random weights.
func ViT(c ViTConfig) *ViTModel {
	patches := c.ImageSize / max(c.PatchSize, 1)
	m := &ViTModel{
		config:     c,
		ClassToken: tensor.Parameter(tensor.Zeros(1, 1, c.Width)),
		Patches:    nn.Conv2D(c.Width, c.PatchSize, nn.Stride(c.PatchSize)),
		Positions:  tensor.Parameter(tensor.Randn(tensor.WeightGenerator(), 1, patches*patches+1, c.Width).MulScalar(0.02)),
		Blocks:     map[string]*vitBlock{}, FinalNorm: nn.LayerNorm(nn.Epsilon(1e-6)), Head: nn.Dense(c.Classes),
	}
	for i := range c.Layers {
		m.Blocks[vitLayer(i)] = &vitBlock{
			Norm1: nn.LayerNorm(nn.Epsilon(1e-6)), Attention: nn.MultiHeadAttention(c.Heads),
			Norm2: nn.LayerNorm(nn.Epsilon(1e-6)), Up: nn.Dense(c.Inner), Down: nn.Dense(c.Width),
		}
	}
	return m
}

func vitLayer(i int) string { return fmt.Sprintf("encoder_layer_%d", i) }

// Forward maps images [N, 3, H, W] of the configured size to logits [N, classes].
func (m *ViTModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	shape := x.Shape()
	if size := m.config.ImageSize; len(shape) != 4 || shape[2] != size || shape[3] != size {
		panic(&tensor.ShapeError{Op: "ViT", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be images [N, 3, %d, %[1]d]", size)})
	}
	n, width := shape[0], m.config.Width
	var s scratch
	defer s.release()
	patches := s.keep(s.keep(s.run(m.Patches, x).Reshape(n, width, -1)).Permute(0, 2, 1))
	x = s.keep(tensor.Concat(1, s.keep(m.ClassToken.Expand(n, 1, width)), patches)).Add(m.Positions)
	for i := range m.config.Layers {
		b := m.Blocks[vitLayer(i)]
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor { return x.Add(s.run(b.Attention, s.run(b.Norm1, x))) })
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			return x.Add(s.run(b.Down, s.keep(s.run(b.Up, s.run(b.Norm2, x)).GELU())))
		})
	}
	s.keep(x)
	return s.result(s.run(m.Head, s.keep(s.keep(s.run(m.FinalNorm, x).Slice(1, 0, 1)).Reshape(n, width))))
}

// String returns the configuration.
func (m *ViTModel) String() string { return fmt.Sprintf("ViT(%+v)", m.config) }
