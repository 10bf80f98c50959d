package optim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// golden is what PyTorch computes; accel/testdata/make_golden.py writes it.
type golden struct {
	Cases []struct {
		Shape     []int       `json:"shape"`
		Start     []float64   `json:"start"`
		Gradients [][]float64 `json:"gradients"`
		Runs      map[string]struct {
			Rates []float64   `json:"rates"`
			After [][]float64 `json:"after"`
		} `json:"runs"`
	} `json:"cases"`
	Clips []struct {
		Limit    float64   `json:"limit"`
		A        []float64 `json:"a"`
		B        []float64 `json:"b"`
		ClippedA []float64 `json:"clipped_a"`
		ClippedB []float64 `json:"clipped_b"`
		LimitedA []float64 `json:"limited_a"`
		LimitedB []float64 `json:"limited_b"`
		Norm     float64   `json:"norm"`
	} `json:"clips"`
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

// setGrad makes g the gradient of p: it is the gradient of the sum of p·g.
func setGrad(p *tensor.Tensor, g []float64) {
	p.Mul(tensor.New(float32s(g), p.Shape()...)).Sum().Backward()
}

// closeTo fails unless got equals want up to the rounding of float32. NaN fails.
func closeTo(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: want %d values, got %d", what, len(want), len(got))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			t.Errorf("%s[%d]\n want %v\n got  %v", what, i, want[i], got[i])
		}
	}
}

func TestUpdatesEqualPyTorch(t *testing.T) {
	var g golden
	read(t, "optimizers.json", &g)
	optimizers := map[string]func(p *tensor.Tensor) *optim.Optimizer{
		"sgd": func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1) },
		"sgd weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.SGD(p, 0.1, optim.WeightDecay(0.05))
		},
		"sgd momentum": func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.Momentum(0.9)) },
		"sgd nesterov": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.SGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov())
		},
		"sgd nesterov weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.SGD(p, 0.1, optim.Momentum(0.8), optim.Nesterov(), optim.WeightDecay(0.05))
		},
		"adamw":          func(p *tensor.Tensor) *optim.Optimizer { return optim.AdamW(p, 0.01) },
		"adamw no decay": func(p *tensor.Tensor) *optim.Optimizer { return optim.AdamW(p, 0.01, optim.WeightDecay(0)) },
		"adamw betas": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.AdamW(p, 0.05, optim.Betas(0.8, 0.99), optim.Epsilon(1e-6), optim.WeightDecay(0.1))
		},
		"adamw schedule": func(p *tensor.Tensor) *optim.Optimizer { return optim.AdamW(p, 1, optim.WeightDecay(0.1)) },
		"adam":           func(p *tensor.Tensor) *optim.Optimizer { return optim.Adam(p, 0.01) },
		"adam weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.Adam(p, 0.02, optim.Betas(0.8, 0.99), optim.Epsilon(1e-6), optim.WeightDecay(0.1))
		},
		"lamb": func(p *tensor.Tensor) *optim.Optimizer { return optim.LAMB(p, 0.05) },
		"lamb no decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.LAMB(p, 0.05, optim.Betas(0.8, 0.99), optim.WeightDecay(0))
		},
		"rmsprop": func(p *tensor.Tensor) *optim.Optimizer { return optim.RMSprop(p, 0.01) },
		"rmsprop momentum": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.RMSprop(p, 0.01, optim.Alpha(0.9), optim.Epsilon(1e-6), optim.Momentum(0.8), optim.WeightDecay(0.1))
		},
		"adagrad": func(p *tensor.Tensor) *optim.Optimizer { return optim.Adagrad(p, 0.05) },
		"adagrad weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.Adagrad(p, 0.05, optim.Epsilon(1e-6), optim.WeightDecay(0.1))
		},
		"nadam": func(p *tensor.Tensor) *optim.Optimizer { return optim.NAdam(p, 0.01) },
		"nadam weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.NAdam(p, 0.02, optim.Betas(0.8, 0.99), optim.Epsilon(1e-6), optim.WeightDecay(0.1))
		},
		"lion": func(p *tensor.Tensor) *optim.Optimizer { return optim.Lion(p, 0.01) },
		"lion weight decay": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.Lion(p, 0.02, optim.Betas(0.8, 0.95), optim.WeightDecay(0.1))
		},
		"muon": func(p *tensor.Tensor) *optim.Optimizer { return optim.Muon(p, 0.02) },
		"muon momentum": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.Muon(p, 0.02, optim.Momentum(0.8), optim.WeightDecay(0))
		},
	}
	if len(g.Cases) == 0 {
		t.Fatal("no cases in the golden file")
	}
	for _, c := range g.Cases {
		if len(c.Runs) != len(optimizers) {
			t.Errorf("%d runs in the golden file, %d here", len(c.Runs), len(optimizers))
		}
		for name, run := range c.Runs {
			t.Run(fmt.Sprint(name, c.Shape), func(t *testing.T) {
				p := tensor.Parameter(tensor.New(float32s(c.Start), c.Shape...))
				opt := optimizers[name](p)
				for step, gradient := range c.Gradients {
					opt.ZeroGrad()
					setGrad(p, gradient)
					opt.SetLearningRate(run.Rates[step])
					opt.Step()
					closeTo(t, name, p.Float64s(), run.After[step], 2e-6)
				}
				if opt.Steps() != len(c.Gradients) {
					t.Errorf("%d steps counted", opt.Steps())
				}
			})
		}
	}
}

// TestClipGradNorm steps with a learning rate of 1, so that the change of a parameter is its
// clipped gradient.
func TestClipNormEqualsPyTorch(t *testing.T) {
	var g golden
	read(t, "optimizers.json", &g)
	for _, c := range g.Clips {
		a, b := tensor.Parameter(tensor.Zeros(3)), tensor.Parameter(tensor.Zeros(2, 2))
		opt := optim.SGD([]*tensor.Tensor{a, b}, 1, optim.ClipGradNorm(c.Limit), optim.RecordGradNorm())
		if opt.GradNorm() != nil {
			t.Error("there is a norm before the first step")
		}
		setGrad(a, c.A)
		setGrad(b, c.B)
		opt.Step()
		closeTo(t, "a", a.Neg().Float64s(), c.ClippedA, 1e-6)
		closeTo(t, "b", b.Neg().Float64s(), c.ClippedB, 1e-6)
		closeTo(t, "norm", opt.GradNorm().Float64s(), []float64{c.Norm}, 1e-6)

		a, b = tensor.Parameter(tensor.Zeros(3)), tensor.Parameter(tensor.Zeros(2, 2))
		opt = optim.SGD([]*tensor.Tensor{a, b}, 1, optim.ClipGradValue(c.Limit))
		setGrad(a, c.A)
		setGrad(b, c.B)
		opt.Step()
		closeTo(t, "a, by value", a.Neg().Float64s(), c.LimitedA, 1e-6)
		closeTo(t, "b, by value", b.Neg().Float64s(), c.LimitedB, 1e-6)
		if opt.GradNorm() != nil {
			t.Error("the norm is recorded without RecordGradNorm")
		}
	}
}

func TestSchedules(t *testing.T) {
	var g map[string]any
	read(t, "schedules.json", &g)
	rate := g["rate"].(float64)
	for name, s := range map[string]optim.Schedule{
		"cosine":     optim.WarmupCosine(0, 20),
		"step 5 0.5": optim.StepLR(5, 0.5),
		"one cycle":  optim.OneCycleLR(20),

		"cosine annealing": optim.CosineAnnealingLR(7, 0.25),
		"exponential":      optim.ExponentialLR(0.9),
		"multi step":       optim.MultiStepLR(0.5, 11, 2, 5, 5),
		"linear":           optim.LinearLR(0.25, 0.75, 8),
	} {
		t.Run(name, func(t *testing.T) {
			for step, want := range g[name].([]any) {
				if got := rate * s.Factor(step); !(math.Abs(got-want.(float64)) <= 1e-12) {
					t.Errorf("step %d\n want %v\n got  %v", step, want, got)
				}
			}
		})
	}
}

func TestPlateau(t *testing.T) {
	var g struct {
		Rate    float64
		Plateau []struct{ Loss, Rate float64 }
	}
	read(t, "schedules.json", &g)
	s := optim.ReduceLROnPlateau(2, 0.5)
	for i, w := range g.Plateau {
		s.Observe(w.Loss)
		if got := g.Rate * s.Factor(i); !(math.Abs(got-w.Rate) <= 1e-12) {
			t.Errorf("after validation %d\n want %v\n got  %v", i, w.Rate, got)
		}
	}
	if s.Factor(0) == 1 {
		t.Error("the rate never fell")
	}
	s = optim.ReduceLROnPlateau(0, 0.1)
	s.Observe(math.NaN())
	if s.Factor(0) != 0.1 {
		t.Error("NaN counts as better")
	}
}

func TestScheduleEnds(t *testing.T) {
	tests := []struct {
		s    optim.Schedule
		step int
		want float64
	}{
		{optim.Constant(), 1 << 30, 1},
		{optim.WarmupCosine(4, 10), 0, 0.25},
		{optim.WarmupCosine(4, 10), 3, 1},
		{optim.WarmupCosine(4, 10), 4, 1},
		{optim.WarmupCosine(4, 10), 7, 0.5},
		{optim.WarmupCosine(4, 10), 10, 0},
		{optim.WarmupCosine(4, 10), 99, 0},
		{optim.WarmupCosine(10, 4), 3, 0.4},
		{optim.WarmupCosine(0, 0), 0, 0},
		{optim.WarmupCosine(-1, -1), 0, 0},
		{optim.StepLR(0, 0.5), 3, 0.125},
		{optim.CosineAnnealingLR(0, 0.5), 1, 0.5},
		{optim.CosineAnnealingLR(10, 0), 10, 0},
		{optim.CosineAnnealingLR(10, 0), 20, 1},
		{optim.CosineAnnealingLR(1, 0), math.MaxInt32, 0},
		{optim.CosineAnnealingLR(math.MaxInt, 0.5), 7, 1},
		{optim.ExponentialLR(0.5), 0, 1},
		{optim.ExponentialLR(0.5), math.MaxInt, 0},
		{optim.MultiStepLR(0.5), 100, 1},
		{optim.MultiStepLR(0.5, 0, 3), 2, 0.5},
		{optim.MultiStepLR(0.5, 3, math.MaxInt), math.MaxInt - 1, 0.5},
		{optim.LinearLR(0.5, 2, 0), 0, 2},
		{optim.LinearLR(0.5, 2, -1), 5, 2},
		{optim.LinearLR(0, 1, 4), 1, 0.25},
		{optim.LinearLR(0, 1, 4), 99, 1},
		{optim.OneCycleLR(1), 0, 1. / 25e4},
		{optim.OneCycleLR(10), 2, 1},
		{optim.OneCycleLR(10), 99, 1. / 25e4},
	}
	for _, tt := range tests {
		if got := tt.s.Factor(tt.step); !(math.Abs(got-tt.want) <= 1e-12) {
			t.Errorf("%v at step %d\n want %v\n got  %v", tt.s, tt.step, tt.want, got)
		}
	}
}

// TestOnePlan requires one plan for all steps while the learning rate, and with it the bias
// corrections, change.
func TestOnePlan(t *testing.T) {
	p := tensor.Parameter(tensor.Ones(8))
	opt := optim.AdamW(p, 0.1, optim.ClipGradNorm(0.5))
	for step := range 20 {
		if step == 2 {
			tensors.ResetStats()
		}
		opt.SetLearningRate(0.1 / float64(step+1))
		opt.ZeroGrad()
		p.Square().Sum().Backward()
		opt.Step()
	}
	if s := tensors.Stats(); s.PlansMade != 0 || s.Flushes != 18 {
		t.Errorf("want 18 flushes and no new plan, got %+v", s)
	}
}

// TestRunningMeansReachZero applies one gradient and then zero gradients, until the running means
// would have become denormal.
func TestRunningMeansReachZero(t *testing.T) {
	for name, opt := range map[string]func(p *tensor.Tensor) *optim.Optimizer{
		"adamw": func(p *tensor.Tensor) *optim.Optimizer { return optim.AdamW(p, 0.1, optim.Betas(0.5, 0.5)) },
		"sgd":   func(p *tensor.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1, optim.Momentum(0.5)) },
		"muon": func(p *tensor.Tensor) *optim.Optimizer {
			return optim.Muon([]*tensor.Tensor{p}, 0.1, optim.Betas(0.5, 0.5))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tensor.Parameter(tensor.Ones(2))
			o := opt(p)
			for step := range 150 {
				o.ZeroGrad()
				if step == 0 {
					setGrad(p, []float64{1, -1})
				} else {
					setGrad(p, []float64{0, 0})
				}
				o.Step()
			}
			for _, mean := range optim.Means(o, p) {
				for _, v := range mean.Data() {
					if v != 0 {
						t.Errorf("a mean is still %v", v)
					}
				}
			}
		})
	}
}

func TestFrozenAndUnusedParametersStay(t *testing.T) {
	frozen, unused := tensor.Parameter(tensor.Ones(2)), tensor.Parameter(tensor.Ones(2))
	used := tensor.Parameter(tensor.Ones(2))
	frozen.SetRequiresGrad(false)
	opt := optim.AdamW([]*tensor.Tensor{frozen, unused, used}, 0.1)
	used.Mul(frozen).Sum().Backward()
	opt.Step()
	for _, p := range []*tensor.Tensor{frozen, unused} {
		closeTo(t, "untouched", p.Float64s(), []float64{1, 1}, 0)
	}
	if used.Float64s()[0] == 1 {
		t.Error("the parameter with a gradient did not change")
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		optim.AdamW(nil, 1e-3).String():     "AdamW, learning rate 0.001",
		optim.SGD(nil, 0.1).String():        "SGD, learning rate 0.1",
		optim.Momentum(0.9).String():        "Momentum(0.9)",
		optim.WarmupCosine(10, 50).String(): "warm-up 10, cosine to 50",
		optim.StepLR(30, 0.1).String():      "× 0.1 every 30 steps",
		optim.OneCycleLR(100).String():      "one cycle of 100 steps",
		optim.Betas(0.9, 0.999).String():    "Betas(0.9, 0.999)",
		optim.ClipGradNorm(1).String():      "ClipGradNorm(1)",
		optim.WeightDecay(0.01).String():    "WeightDecay(0.01)",
		optim.Epsilon(1e-8).String():        "Epsilon(1e-08)",
		optim.Nesterov().String():           "Nesterov()",
		optim.Constant().String():           "constant",
		optim.Adam(nil, 0.1).String():       "Adam, learning rate 0.1",
		optim.LAMB(nil, 0.1).String():       "LAMB, learning rate 0.1",
		optim.RMSprop(nil, 0.1).String():    "RMSprop, learning rate 0.1",
		optim.Adagrad(nil, 0.1).String():    "Adagrad, learning rate 0.1",
		optim.Lion(nil, 0.1).String():       "Lion, learning rate 0.1",
		optim.Muon(nil, 0.1).String():       "Muon, learning rate 0.1",
		optim.NAdam(nil, 0.1).String():      "NAdam, learning rate 0.1",
		optim.LBFGS(nil, 0.1).String():      "LBFGS, learning rate 0.1",
		optim.ClipGradValue(0.5).String():   "ClipGradValue(0.5)",
		optim.RecordGradNorm().String():     "RecordGradNorm()",

		optim.CosineAnnealingLR(10, 0.1).String(): "cosine to × 0.1 in 10 steps, and back",
		optim.ExponentialLR(0.9).String():         "× 0.9 every step",
		optim.MultiStepLR(0.1, 60, 30).String():   "× 0.1 at steps [30 60]",
		optim.LinearLR(0.25, 1, 5).String():       "from × 0.25 to × 1 in 5 steps",

		optim.ReduceLROnPlateau(3, 0.5).String(): "× 0.5 after 3 validations without a better loss",
	} {
		if got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestLearningRateMustBeFinite requires parameters to stay unchanged if the learning rate is not finite.
func TestLearningRateMustBeFinite(t *testing.T) {
	p := tensor.Parameter(tensor.Ones(2))
	for _, rate := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300} {
		o := optim.SGD(p, 0.1)
		o.SetLearningRate(rate)
		p.Sum().Backward()
		err := func() (err error) {
			defer nn.Catch(&err)
			o.Step()
			return nil
		}()
		var state *tensor.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "learning rate") {
			t.Errorf("rate %v: %v", rate, err)
		}
		if got := p.Data(); got[0] != 1 || got[1] != 1 {
			t.Errorf("rate %v: the parameter is %v", rate, got)
		}
	}
}
