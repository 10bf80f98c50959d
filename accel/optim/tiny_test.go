package optim_test

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestTinyGradients applies AdamW to gradients down to the denormal range of float32, which
// [record.average] rounds to zero. The result must be as close to PyTorch's float64 as
// PyTorch's float32 is, within a ten-thousandth of the learning rate.
func TestTinyGradients(t *testing.T) {
	var g struct {
		Sizes, Signs []float64
		Cases        []struct {
			Epsilon          float64
			Float64, Float32 [][]float64
		}
	}
	read(t, "tiny.json", &g)
	const rate = 0.01
	for _, c := range g.Cases {
		p := tensor.Parameter(tensor.Zeros(len(g.Sizes)))
		opt := optim.AdamW(p, rate, optim.WeightDecay(0), optim.Epsilon(c.Epsilon))
		for step, sign := range g.Signs {
			gradient := make([]float64, len(g.Sizes))
			for i, s := range g.Sizes {
				gradient[i] = s * sign
			}
			opt.ZeroGrad()
			setGrad(p, gradient)
			opt.Step()
			for i, got := range p.Float64s() {
				want, single := c.Float64[step][i], c.Float32[step][i]
				if !(math.Abs(got-want) <= math.Abs(single-want)+1e-4*rate) {
					t.Errorf("epsilon %g, gradient %g, step %d\n want %v, in float32 %v\n got  %v", c.Epsilon, g.Sizes[i], step+1, want, single, got)
				}
			}
		}
	}
}
