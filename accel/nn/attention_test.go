package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAttentionInitialization checks PyTorch's bounds: Glorot's for the projection to queries, keys
// and values, that of a linear layer for the outputs, and biases of 0.
func TestAttentionInitialization(t *testing.T) {
	const width = 64
	m := nn.SelfAttention(4)
	m.Forward(tensor.Zeros(1, 2, width))
	bounds := map[string]float64{"in_proj_weight": math.Sqrt(6.0 / (4 * width)), "in_proj_bias": 0, "out_proj.weight": 1 / math.Sqrt(width), "out_proj.bias": 0}
	parameters := nn.NamedParameters(m)
	if len(parameters) != len(bounds) {
		t.Errorf("%d parameters, want %d", len(parameters), len(bounds))
	}
	for _, p := range parameters {
		bound, largest := bounds[p.Name], 0.0
		for _, v := range p.Float64s() {
			largest = max(largest, math.Abs(v))
		}
		if largest > bound*(1+1e-6) || largest < 0.98*bound {
			t.Errorf("%s: the largest value is %g, want one just below %g", p.Name, largest, bound)
		}
	}
	frozen := nn.SelfAttention(4)
	thaw := nn.Freeze(frozen)
	frozen.Forward(tensor.Zeros(1, 2, width))
	if n := len(nn.Parameters(frozen)); n != 0 {
		t.Errorf("%d parameters of a frozen layer", n)
	}
	thaw.Thaw()
	if n := len(nn.Parameters(frozen)); n != len(bounds) {
		t.Errorf("%d parameters after Thaw", n)
	}
}

// TestAttentionDropout checks that weights are dropped as PyTorch's MultiheadAttention does: each with
// the given probability, the others scaled, and none in evaluation mode.
func TestAttentionDropout(t *testing.T) {
	const share, positions = 0.25, 40
	q, k := tensor.Randn(tensor.NewGenerator(1), 2, 2, positions, 4), tensor.Randn(tensor.NewGenerator(2), 2, 2, positions, 4)
	see := tensor.AttentionMask{Causal: true}
	want := tensor.AttentionWeights(q, k, see).Float64s()
	identity := tensor.Arange(0, positions, 1, tensor.Int32).OneHot(positions).Reshape(1, 1, positions, positions).Expand(2, 2, positions, positions)
	got := nn.DroppedAttention(share, q, k, identity, see).Float64s() // the weights, since the values are one-hot
	dropped, visible := 0, 0
	for i, w := range want {
		if w == 0 {
			continue
		}
		visible++
		switch {
		case got[i] == 0:
			dropped++
		case math.Abs(got[i]-w/(1-share)) > 1e-5:
			t.Fatalf("weight %d is %g, want 0 or %g", i, got[i], w/(1-share))
		}
	}
	if part := float64(dropped) / float64(visible); math.Abs(part-share) > 0.05 {
		t.Errorf("%.3f of the weights are dropped, want %g", part, share)
	}

	x := tensor.Randn(tensor.NewGenerator(3), 2, 5, 8)
	for name, m := range map[string]nn.Module{
		"SelfAttention":           nn.SelfAttention(2, nn.Causal(), nn.AttentionDropout(0.5)),
		"GroupedQueryAttention":   nn.GroupedQueryAttention(4, 2, nn.AttentionDropout(0.5)),
		"TransformerEncoderLayer": nn.TransformerEncoderLayer(2, nn.TransformerDropout(0.5)),
	} {
		first, second := m.Forward(x).Float64s(), m.Forward(x).Float64s()
		restore := nn.Eval(m)
		third, fourth := m.Forward(x).Float64s(), m.Forward(x).Float64s()
		restore()
		if slices.Equal(first, second) || !slices.Equal(third, fourth) {
			t.Errorf("%s: equal in training: %v, in evaluation: %v", name, slices.Equal(first, second), slices.Equal(third, fourth))
		}
	}
	if text := fmt.Sprint(nn.SelfAttention(2, nn.Causal(), nn.AttentionDropout(0.5))); text != "SelfAttention(2, Causal(), AttentionDropout(0.5))" {
		t.Error(text)
	}
}

// TestAttentionWeights compares the weights with tensor.MaskedAttention, also of a query without keys.
func TestAttentionWeights(t *testing.T) {
	q, k, v := tensor.Randn(tensor.NewGenerator(1), 2, 2, 3, 4), tensor.Randn(tensor.NewGenerator(2), 2, 2, 5, 4), tensor.Randn(tensor.NewGenerator(3), 2, 2, 5, 4)
	for name, see := range map[string]tensor.AttentionMask{
		"all":     {},
		"causal":  {Causal: true},
		"lengths": {Lengths: tensor.FromInts([]int{2, 5}, 2)},
		"both":    {Causal: true, Lengths: tensor.FromInts([]int{1, 4}, 2)},
		"mask":    {Mask: tensor.FromInts([]int{1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0}, 3, 5)},
		"bias":    {Bias: tensor.Randn(tensor.NewGenerator(4), 3, 5)},
	} {
		want := tensor.MaskedAttention(q, k, v, see).Float64s()
		p := tensor.Parameter(q)
		y := tensor.AttentionWeights(p, k, see).MatMul(v)
		closeTo(t, name, y.Float64s(), want, 1e-6)
		y.Sum().Backward()
		for _, g := range p.Grad().Float64s() {
			if g != g {
				t.Errorf("%s: the gradient is NaN", name)
				break
			}
		}
	}
}
