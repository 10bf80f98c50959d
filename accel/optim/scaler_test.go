package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestScaler injects non-finite gradients and compares with PyTorch's GradScaler
// (accel/testdata/make_golden.py).
func TestScaler(t *testing.T) {
	var g struct {
		Steps     int
		Overflows map[int]string
		Changes   []struct {
			After int
			Scale float64
		}
		Every100 []float64
	}
	read(t, "scaler.json", &g)
	p := tensor.Parameter(tensor.Ones(1))
	opt, scaler := optim.SGD(p, 1.0/1024), optim.NewGradScaler()
	skips, want, changes := 0, scaler.LossScale(), g.Changes
	for step := range g.Steps {
		factor := 0.5
		switch g.Overflows[step] {
		case "inf":
			factor = math.Inf(1)
		case "nan":
			factor = math.NaN()
		}
		opt.ZeroGrad()
		scaler.Scale(p.Sum().MulScalar(factor)).Backward()
		scaler.Step(opt)
		skipped := scaler.Skipped() > skips
		if skipped {
			skips++
		}
		used, made := scaler.LastStep()
		if skipped != (factor != 0.5) || made.Item() == 1 == skipped || used.Item() != want {
			t.Fatalf("step %d: skipped %v for %v, made %v with the scale %v", step, skipped, factor, made.Item(), used.Item())
		}
		if len(changes) > 0 && changes[0].After == step {
			want, changes = changes[0].Scale, changes[1:]
		}
		if scaler.LossScale() != want {
			t.Fatalf("step %d: want scale %v, got %v", step, want, scaler.LossScale())
		}
		if step%100 == 0 && !(math.Abs(p.Item()-g.Every100[step/100]) <= 1e-6) {
			t.Fatalf("step %d: want parameter %v, got %v", step, g.Every100[step/100], p.Item())
		}
	}
	if len(changes) > 0 || len(g.Changes) < 5 {
		t.Errorf("%d changes, %d not seen", len(g.Changes), len(changes))
	}
	if skips == 0 || scaler.Skipped() != skips || opt.Steps() != g.Steps-skips {
		t.Errorf("%d skipped, the scaler says %d, the optimizer made %d steps", skips, scaler.Skipped(), opt.Steps())
	}
	if want := fmt.Sprintf("loss scale %g, %d steps skipped", scaler.LossScale(), skips); scaler.String() != want {
		t.Errorf("want %q, got %q", want, scaler)
	}
}

// TestScalerClipsRealGradients requires the clipping limit to apply to unscaled gradients.
func TestScalerClipsRealGradients(t *testing.T) {
	p := tensor.Parameter(tensor.Zeros(2))
	opt, scaler := optim.SGD(p, 1, optim.ClipGradNorm(1)), optim.NewGradScaler()
	scaler.Scale(p.Mul(tensor.New([]float32{3, 4}, 2)).Sum()).Backward()
	scaler.Step(opt)
	closeTo(t, "parameter", p.Float64s(), []float64{-0.6, -0.8}, 1e-6)
}

func TestScalerState(t *testing.T) {
	a, p := optim.NewGradScaler(), tensor.Parameter(tensor.Ones(1))
	opt := optim.SGD(p, 0.1)
	p.Sum().MulScalar(math.Inf(1)).Backward()
	a.Step(opt)
	b := optim.NewGradScaler()
	if err := b.SetState(a.State()); err != nil {
		t.Fatal(err)
	}
	if a.State() != b.State() || b.LossScale() != 1<<15 {
		t.Errorf("%v became %v", a, b)
	}
	for _, bad := range []optim.GradScalerState{{}, {Scale: -1}, {Scale: math.Inf(1)}, {Scale: 1, GoodSteps: 2000}, {Scale: 1, Skipped: -1}} {
		if err := b.SetState(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestStateContinues stops after three steps and continues with a new optimizer.
func TestStateContinues(t *testing.T) {
	gradients := [][]float64{{1, -2, 3, 0.5}, {0.3, 0.1, -1, 2}, {-1, 1, 0, 1}, {2, 2, -2, 1}, {0.1, 0.2, 0.3, 0.4}, {1, 1, 1, 1}}
	for name, make := range map[string]func(p *tensor.Tensor) *optim.Optimizer{
		"sgd":     func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.Momentum(0.9)) },
		"plain":   func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1) },
		"adam":    func(p *tensor.Tensor) *optim.Optimizer { return optim.Adam(p, 0.1) },
		"rmsprop": func(p *tensor.Tensor) *optim.Optimizer { return optim.RMSprop(p, 0.1, optim.Momentum(0.9)) },
		"adagrad": func(p *tensor.Tensor) *optim.Optimizer { return optim.Adagrad(p, 0.1) },
		"lion":    func(p *tensor.Tensor) *optim.Optimizer { return optim.Lion(p, 0.1) },
		"lamb":    func(p *tensor.Tensor) *optim.Optimizer { return optim.LAMB(p, 0.1) },
		"muon":    func(p *tensor.Tensor) *optim.Optimizer { return optim.Muon(p, 0.1) },
	} {
		t.Run(name, func(t *testing.T) {
			whole := tensor.Parameter(tensor.New([]float32{1, 2, 3, 4}, 2, 2))
			opt := make(whole)
			for _, g := range gradients {
				opt.ZeroGrad()
				setGrad(whole, g)
				opt.Step()
			}
			p := tensor.Parameter(tensor.New([]float32{1, 2, 3, 4}, 2, 2))
			first := make(p)
			for i, g := range gradients {
				if i == 3 {
					second := make(p)
					if err := second.SetState(first.State()); err != nil {
						t.Fatal(err)
					}
					first = second
				}
				first.ZeroGrad()
				setGrad(p, g)
				first.Step()
			}
			closeTo(t, "parameter", p.Float64s(), whole.Float64s(), 0)
			if first.Steps() != len(gradients) {
				t.Errorf("%d steps", first.Steps())
			}
		})
	}
}

func TestStateThatDoesNotFit(t *testing.T) {
	p := tensor.Parameter(tensor.Ones(2))
	opt := optim.AdamW([]*tensor.Tensor{p}, 0.1)
	setGrad(p, []float64{1, 1})
	opt.Step()
	for name, model := range map[string][]*tensor.Tensor{
		"shape": {tensor.Parameter(tensor.Ones(3))},
		"name":  {},
	} {
		other := optim.AdamW(model, 0.1)
		if err := other.SetState(opt.State()); err == nil || other.Steps() != 0 {
			t.Errorf("%s: error %v, %d steps", name, err, other.Steps())
		}
	}
	state := opt.State()
	state.Tensors["9.first"] = tensor.Ones(2)
	if err := opt.SetState(state); err == nil {
		t.Error("a tensor of no parameter is taken")
	}
}

// TestScalerLikeFloat64 makes steps with scaled gradients, of which some are skipped, and
// compares each optimizer with float64 steps without the skipped ones.
func TestScalerLikeFloat64(t *testing.T) {
	gradients := [][]float64{{1, -2, 3, 0.5}, {math.NaN(), 0, 0, 0}, {0.3, 0.1, -1, 2}, {-1, 1, 0, 1}, {0, math.Inf(-1), 0, 0}, {2, 2, -2, 1}}
	for name, make := range map[string]func(p any) *optim.Optimizer{
		"SGD":     func(p any) *optim.Optimizer { return optim.SGD(p, 0.1, optim.Momentum(0.9), optim.WeightDecay(0.1)) },
		"Adam":    func(p any) *optim.Optimizer { return optim.Adam(p, 0.1) },
		"AdamW":   func(p any) *optim.Optimizer { return optim.AdamW(p, 0.1, optim.ClipGradNorm(1)) },
		"RMSprop": func(p any) *optim.Optimizer { return optim.RMSprop(p, 0.1) },
		"Adagrad": func(p any) *optim.Optimizer { return optim.Adagrad(p, 0.1) },
		"Lion":    func(p any) *optim.Optimizer { return optim.Lion(p, 0.1) },
		"LAMB":    func(p any) *optim.Optimizer { return optim.LAMB(p, 0.1) },
		"Muon":    func(p any) *optim.Optimizer { return optim.Muon(p, 0.1) },
	} {
		t.Run(name, func(t *testing.T) {
			type pair struct{ A, B *tensor.Tensor } // B has a gradient in every other step
			model := func() *pair {
				return &pair{tensor.Parameter(tensor.New([]float32{1, 2, 3, 4}, 2, 2)), tensor.Parameter(tensor.New([]float32{1, 2, 3, 4}, 4))}
			}
			plain, scaled := model(), model()
			a, b, scaler := make(plain), make(scaled), optim.NewGradScaler()
			for i, g := range gradients {
				finite := true
				for _, v := range g {
					finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
				}
				step := func(m *pair, o *optim.Optimizer, s *optim.GradScaler) {
					o.ZeroGrad()
					loss := m.A.Mul(tensor.FromFloat64s(g, 2, 2).Cast(tensor.Float32)).Sum()
					if i%2 == 0 {
						loss = loss.Add(m.B.Mul(tensor.FromFloat64s(g, 4).Cast(tensor.Float32)).Sum())
					}
					if s == nil {
						loss.Backward()
						o.Step()
						return
					}
					s.Scale(loss).Backward()
					s.Step(o)
				}
				if finite {
					step(plain, a, nil)
				}
				step(scaled, b, scaler)
			}
			closeTo(t, "A", scaled.A.Float64s(), plain.A.Float64s(), 1e-5)
			closeTo(t, "B", scaled.B.Float64s(), plain.B.Float64s(), 1e-5)
			if scaler.Skipped() != 2 || b.Steps() != a.Steps() || a.Steps() != 4 {
				t.Errorf("%d steps, %d skipped", b.Steps(), scaler.Skipped())
			}
			if got, want := fmt.Sprint(b.State().Updates), fmt.Sprint(a.State().Updates); got != want {
				t.Errorf("updates %s, want %s", got, want)
			}
		})
	}
}
