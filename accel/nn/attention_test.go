package nn_test

import (
	"math"
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
