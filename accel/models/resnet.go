package models

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ResNetModel is a residual network for images (He et al., 2016); [ResNet18] and [ResNet50] return
// it. Its parameters have torchvision's names.
type ResNetModel struct {
	name   string
	Conv   nn.Module           `nn:"conv1"`   // 7 × 7, with stride 2
	Norm   nn.Module           `nn:"bn1"`     // batch normalization, before ReLU
	Pool   nn.Module           `nn:"maxpool"` // maximum of 3 × 3, with stride 2
	Layer1 *nn.SequentialLayer `nn:"layer1"`  // of blocks with 64 channels inside
	Layer2 *nn.SequentialLayer `nn:"layer2"`  // 128 channels; this and the next two halve height and width
	Layer3 *nn.SequentialLayer `nn:"layer3"`  // 256 channels
	Layer4 *nn.SequentialLayer `nn:"layer4"`  // 512 channels
	Head   nn.Module           `nn:"fc"`      // linear layer to the classes, after the mean over height and width
}

// ResNet18 returns a ResNet-18 with this number of classes, 1,000 for ImageNet, and random weights.
func ResNet18(classes int) *ResNetModel {
	return newResNet("ResNet18", classes, [4]int{2, 2, 2, 2}, false)
}

// ResNet50 returns a ResNet-50 with this number of classes, 1,000 for ImageNet, and random weights.
// Its blocks have the stride in the 3×3 convolution, as torchvision's (V1.5).
func ResNet50(classes int) *ResNetModel {
	return newResNet("ResNet50", classes, [4]int{3, 4, 6, 3}, true)
}

func newResNet(name string, classes int, blocks [4]int, bottleneck bool) *ResNetModel {
	m := &ResNetModel{
		name: name, Conv: nn.Conv2D(64, 7, nn.Stride(2), nn.Padding(3), nn.NoBias()), Norm: nn.BatchNorm(),
		Pool: nn.MaxPool2D(3, nn.Stride(2), nn.Padding(1)), Head: nn.Dense(classes),
	}
	for i, layer := range []**nn.SequentialLayer{&m.Layer1, &m.Layer2, &m.Layer3, &m.Layer4} {
		width, stride := 64<<i, 2
		if i == 0 {
			stride = 1
		}
		*layer = nn.Repeat(blocks[i], func(block int) nn.Module {
			if block > 0 {
				return newResNetBlock(width, 1, bottleneck, false)
			}
			return newResNetBlock(width, stride, bottleneck, stride > 1 || bottleneck)
		})
	}
	return m
}

// resNetBlock is a basic block of two convolutions, or a bottleneck of three.
type resNetBlock struct {
	Conv1      nn.Module           `nn:"conv1"`
	Norm1      nn.Module           `nn:"bn1"`
	Conv2      nn.Module           `nn:"conv2"`
	Norm2      nn.Module           `nn:"bn2"`
	Conv3      nn.Module           `nn:"conv3"` // nil in a basic block
	Norm3      nn.Module           `nn:"bn3"`
	Downsample *nn.SequentialLayer `nn:"downsample"` // nil if the shapes are equal
}

func newResNetBlock(width, stride int, bottleneck, downsample bool) *resNetBlock {
	conv := func(out, kernel, stride int) nn.Module {
		return nn.Conv2D(out, kernel, nn.Stride(stride), nn.Padding(kernel/2), nn.NoBias())
	}
	b, out := &resNetBlock{Norm1: nn.BatchNorm(), Norm2: nn.BatchNorm()}, width
	if bottleneck {
		out = 4 * width
		b.Conv1, b.Conv2, b.Conv3, b.Norm3 = conv(width, 1, 1), conv(width, 3, stride), conv(out, 1, 1), nn.BatchNorm()
	} else {
		b.Conv1, b.Conv2 = conv(width, 3, stride), conv(width, 3, 1)
	}
	if downsample {
		b.Downsample = nn.Sequential(conv(out, 1, stride), nn.BatchNorm())
	}
	return b
}

// Forward computes the block.
func (b *resNetBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	// Sequential and Residual release what lies between layers, so that it needs no memory and ops are fused.
	layers := []nn.Module{b.Conv1, b.Norm1, nn.ReLU(), b.Conv2, b.Norm2}
	if b.Conv3 != nil {
		layers = append(layers, nn.ReLU(), b.Conv3, b.Norm3)
	}
	if b.Downsample == nil {
		return nn.Sequential(nn.Residual(layers...), nn.ReLU()).Forward(x)
	}
	var s scratch
	defer s.release()
	return s.keep(s.run(nn.Sequential(layers...), x).Add(s.run(b.Downsample, x))).ReLU()
}

// RetainsNothing reports whether the block's layers keep no references to tensors.
func (b *resNetBlock) RetainsNothing() bool {
	return layer.RetainsNothing(nn.Sequential(b.Conv1, b.Norm1, b.Conv2, b.Norm2)) && (b.Conv3 == nil || layer.RetainsNothing(nn.Sequential(b.Conv3, b.Norm3)))
}

// Forward maps images [N, 3, H, W] to logits [N, classes].
func (m *ResNetModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	var s scratch
	defer s.release()
	return s.result(s.run(m.Head, s.keep(m.Features(x))))
}

// Features maps images [N, 3, H, W] to the inputs of the head, [N, 512] or [N, 2048].
func (m *ResNetModel) Features(x *tensor.Tensor) *tensor.Tensor {
	var s scratch
	defer s.release()
	x = s.run(nn.Sequential(m.Conv, m.Norm, nn.ReLU(), m.Pool), x)
	for _, layer := range []*nn.SequentialLayer{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = s.run(layer, x)
	}
	return tensor.GlobalAvgPool2D(x)
}

// String returns the model as Go code, with the head that it has now.
func (m *ResNetModel) String() string { return fmt.Sprintf("%s with head %v", m.name, m.Head) }
