package cells

import (
	"strings"
	"testing"
)

// TestExport exports models whose types and functions cells declare.
func TestExport(t *testing.T) {
	n := newNotebook(t)
	n.want(`type Block struct {
	up, down nn.Module
	Scale    *tensor.Tensor
}

func (b *Block) Forward(x *nn.Tensor) *nn.Tensor {
	return x.Add(b.down.Forward(b.up.Forward(x).SiLU()).Mul(b.Scale))
}

block := &Block{nn.Dense(8), nn.Dense(4), tensor.Parameter(tensor.Ones(4))}
block.Scale.Numel()`, "4")
	n.want(`m, err := onnx.Build(nn.Sequential(nn.Dense(4), block), tensor.Zeros(2, 3))
m`, "weight 1.up.weight float[8 4]")
	n.want(`onnx.BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{block.Forward(in[0]), in[1].Softmax(-1)}
}, []*tensor.Tensor{tensor.Zeros(2, 4), tensor.Zeros(2, 7)}, onnx.Uses(block), onnx.Outputs("mixed", "shares"))`, "output shares float[batch 7]")
	_, failure := n.run(`onnx.Build(nn.Sequential(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 {
		return x.Neg()
	}
	return x
})), tensor.Ones(2, 3))`)
	if failure == nil || !strings.Contains(failure.Value, "layer 0, Lambda(): Item: Go code that reads values") {
		t.Errorf("%+v", failure)
	}
}
