package optim_test

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// optimizers are all optimizers, without weight decay.
var optimizers = map[string]func(p *tensor.Tensor) *optim.Optimizer{
	"SGD":           func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1) },
	"SGD, momentum": func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.Momentum(0.9)) },
	"SGD, Nesterov": func(p *tensor.Tensor) *optim.Optimizer {
		return optim.SGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov())
	},
	"SGD, clipped": func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.ClipGradNorm(1)) },
	"Adam":         func(p *tensor.Tensor) *optim.Optimizer { return optim.Adam(p, 0.1) },
	"SGD, limited": func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.ClipGradValue(0.5)) },
	"NAdam":        func(p *tensor.Tensor) *optim.Optimizer { return optim.NAdam(p, 0.1) },
	"AdamW":        func(p *tensor.Tensor) *optim.Optimizer { return optim.AdamW(p, 0.1, optim.WeightDecay(0)) },
	"Adagrad":      func(p *tensor.Tensor) *optim.Optimizer { return optim.Adagrad(p, 0.1) },
	"RMSprop":      func(p *tensor.Tensor) *optim.Optimizer { return optim.RMSprop(p, 0.1) },
	"LAMB":         func(p *tensor.Tensor) *optim.Optimizer { return optim.LAMB(p, 0.1, optim.WeightDecay(0)) },
	"Lion":         func(p *tensor.Tensor) *optim.Optimizer { return optim.Lion(p, 0.1, optim.WeightDecay(0)) },
	"Muon":         func(p *tensor.Tensor) *optim.Optimizer { return optim.Muon(p, 0.1, optim.WeightDecay(0)) },
}

// TestUpdatesOfConstantGradients applies the same gradient in each step. A gradient of 0 changes nothing. With the
// gradient g, from which the running means of g and g² do not differ once their bias is corrected, the t-th step is
//
//	SGD       rate·g, times (1-μᵗ)/(1-μ) with momentum μ, and (1-μᵗ⁺¹)/(1-μ) with Nesterov's; clipped: rate·g/‖g‖
//	limited   rate·sign(g)·min(|g|, 0.5)
//	Adam(W)   rate·g/(|g| + ε), which is also NAdam's up to its factors, computed below
//	Adagrad   rate·g/(√t·|g| + ε)
//	RMSprop   rate·g/(√(1-αᵗ)·|g| + ε) with α = 0.99
//	Lion      rate·sign(g)
//	LAMB      rate·‖p‖·sign(g)/√n, or rate·g/(|g| + ε) where p is 0
//
// Muon's steps have no such formula: they are finite.
func TestUpdatesOfConstantGradients(t *testing.T) {
	const rate, n = 0.1, 6
	for name, create := range optimizers {
		for _, start := range []float64{0, 2} {
			for _, g := range []float64{0, 1, -3, 1e-3, 1e4} {
				p := tensor.Parameter(tensor.Full(start, 2, 3))
				o := create(p)
				want := start
				for step := 1; step <= 5; step++ {
					o.ZeroGrad()
					setGrad(p, []float64{g, g, g, g, g, g})
					o.Step()
					d, size, sign := float64(step), math.Abs(g), 0.0
					if g != 0 {
						sign = g / size
					}
					switch name {
					case "SGD":
						want -= rate * g
					case "SGD, momentum":
						want -= rate * g * (1 - math.Pow(0.9, d)) / (1 - 0.9)
					case "SGD, Nesterov":
						want -= rate * g * (1 - math.Pow(0.9, d+1)) / (1 - 0.9)
					case "SGD, clipped":
						want -= rate * g * min(1, 1/max(size*math.Sqrt(n), 1e-300))
					case "SGD, limited":
						want -= rate * sign * min(size, 0.5)
					case "NAdam":
						mu := func(t float64) float64 { return 0.9 * (1 - 0.5*math.Pow(0.96, 0.004*t)) }
						product := 1.0
						for t := 1; t <= step; t++ {
							product *= mu(float64(t))
						}
						m := 1 - math.Pow(0.9, d) // of g
						want -= rate * sign * size / (size + 1e-8) * ((1-mu(d))/(1-product) + m*mu(d+1)/(1-product*mu(d+1)))
					case "Adam", "AdamW":
						want -= rate * sign * size / (size + 1e-8)
					case "Adagrad":
						want -= rate * sign * size / (math.Sqrt(d)*size + 1e-10)
					case "RMSprop":
						want -= rate * sign * size / (math.Sqrt(1-math.Pow(0.99, d))*size + 1e-8)
					case "Lion":
						want -= rate * sign
					case "LAMB":
						if length := math.Abs(want); length > 0 { // ‖p‖/√n
							want -= rate * sign * length
						} else {
							want -= rate * sign * size / (size + 1e-6)
						}
					}
					for i, got := range p.Float64s() {
						if math.IsNaN(got) || math.IsInf(got, 0) || (name != "Muon" || g == 0) && !(math.Abs(got-want) <= 2e-4*(math.Abs(want)+rate)) {
							t.Fatalf("%s from %v with gradient %v, step %d: parameter %d is %v, want %v", name, start, g, step, i, got, want)
						}
					}
				}
			}
		}
	}
}

// TestScalerSkipsEveryOptimizer injects a gradient with one infinite or NaN element between others. The optimizer makes
// the steps, and has the state, as if that gradient had not been there.
func TestScalerSkipsEveryOptimizer(t *testing.T) {
	for name, create := range optimizers {
		for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
			run := func(gradients ...float64) (values []float64, steps, skipped int) {
				p := tensor.Parameter(tensor.Full(1, 2, 3))
				o, scaler := create(p), optim.NewGradScaler()
				for _, g := range gradients {
					o.ZeroGrad()
					scaler.Scale(p.Mul(tensor.New([]float32{0.5, 0.5, 0.5, float32(g), 0.5, 0.5}, 2, 3)).Sum()).Backward()
					scaler.Step(o)
				}
				return p.Float64s(), o.Steps(), scaler.Skipped()
			}
			want, steps, _ := run(0.5, -1, 2)
			got, made, skipped := run(bad, 0.5, bad, bad, -1, bad, 2, bad)
			if made != steps || skipped != 5 {
				t.Errorf("%s, %v: %d steps and %d skipped, want %d and 5", name, bad, made, skipped, steps)
			}
			closeTo(t, name, got, want, 0)
		}
	}
}
