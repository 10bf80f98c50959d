package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestInvalidOptions requires a step with an argument outside of its range, or with an option that the optimizer
// does not take, to fail and to change nothing.
func TestInvalidOptions(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	custom := func(model any, rate float64, options ...optim.Option) *optim.Optimizer {
		return optim.Custom("Mine", model, rate, func(u *optim.Update) *tensor.Tensor { return u.Parameter.Clone() }, options...)
	}
	for _, tt := range []struct {
		create func(model any, rate float64, options ...optim.Option) *optim.Optimizer
		option optim.Option
		want   string
	}{
		{optim.AdamW, optim.WeightDecay(-0.1), "AdamW: WeightDecay(-0.1): the decay must be finite and not negative"},
		{optim.AdamW, optim.WeightDecay(inf), "AdamW: WeightDecay(+Inf): the decay"},
		{optim.SGD, optim.Momentum(-1), "SGD: Momentum(-1): the momentum"},
		{optim.SGD, optim.Momentum(nan), "SGD: Momentum(NaN): the momentum"},
		{optim.AdamW, optim.Betas(0.9, 1), "AdamW: Betas(0.9, 1): both must be at least 0 and less than 1"},
		{optim.AdamW, optim.Betas(-0.1, 0.9), "AdamW: Betas(-0.1, 0.9): both"},
		{optim.RMSprop, optim.Alpha(1.1), "RMSprop: Alpha(1.1): it must be from 0 to 1"},
		{optim.AdamW, optim.Epsilon(-1), "AdamW: Epsilon(-1): it must be finite"},
		{optim.AdamW, optim.ClipGradNorm(0), "AdamW: ClipGradNorm(0): the limit must be positive"},
		{optim.AdamW, optim.ClipGradNorm(nan), "AdamW: ClipGradNorm(NaN): the limit"},
		{optim.AdamW, optim.ClipGradValue(-2), "AdamW: ClipGradValue(-2): the limit must be positive"},
		{optim.AdamW, optim.RateFactor(-1), "AdamW: RateFactor(-1): the factor"},
		{optim.SGD, optim.Group("*", optim.Momentum(-2)), "SGD: Momentum(-2): the momentum"},

		{optim.SGD, optim.Betas(0.9, 0.99), "SGD: does not take Betas(0.9, 0.99): its options are Momentum, Nesterov, WeightDecay, RateFactor, Group"},
		{optim.Adam, optim.Momentum(0.9), "Adam: does not take Momentum(0.9): its options are WeightDecay, Betas, Epsilon"},
		{optim.AdamW, optim.Nesterov(), "AdamW: does not take Nesterov()"},
		{optim.NAdam, optim.Alpha(0.9), "NAdam: does not take Alpha(0.9)"},
		{optim.LAMB, optim.Alpha(0.9), "LAMB: does not take Alpha(0.9)"},
		{optim.Lion, optim.Epsilon(1), "Lion: does not take Epsilon(1)"},
		{optim.Muon, optim.Nesterov(), "Muon: does not take Nesterov()"},
		{optim.RMSprop, optim.Betas(0, 0), "RMSprop: does not take Betas(0, 0)"},
		{optim.Adagrad, optim.Momentum(0.9), "Adagrad: does not take Momentum(0.9)"},
		{custom, optim.Epsilon(1), "Mine: does not take Epsilon(1)"},
		{optim.SGD, optim.StrongWolfe(), "SGD: does not take StrongWolfe()"},
		{optim.SGD, optim.Group("*", optim.Epsilon(1)), "SGD: does not take Epsilon(1): its options are Momentum, Nesterov, WeightDecay and RateFactor"},
		{optim.SGD, optim.Group("*", optim.ClipGradNorm(1)), "SGD: does not take ClipGradNorm(1)"},
		{optim.SGD, optim.GroupFunc(func(string) bool { return true }, optim.RecordGradNorm()), "SGD: does not take RecordGradNorm()"},
	} {
		p := tensor.Parameter(tensor.Ones(2))
		model := struct{ P *tensor.Tensor }{p}
		o := tt.create(&model, 0.1, tt.option)
		p.Sum().Backward()
		for range 2 {
			err := func() (err error) {
				defer nn.Catch(&err)
				o.Step()
				return nil
			}()
			var state *tensor.StateError
			if !errors.As(err, &state) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("want %s\ngot  %v", tt.want, err)
			}
			if v := p.Data(); v[0] != 1 || o.Steps() != 0 {
				t.Errorf("%s: the step changed something", tt.want)
			}
		}
	}
}

// TestClipOrder clips by value, and then by the norm of what remains; NaN stays.
func TestClipOrder(t *testing.T) {
	p := tensor.Parameter(tensor.Zeros(2))
	o := optim.SGD(p, 1, optim.ClipGradNorm(1), optim.ClipGradValue(3), optim.RecordGradNorm())
	setGrad(p, []float64{300, 4})
	o.Step()
	closeTo(t, "parameter", p.Neg().Float64s(), []float64{3 / math.Sqrt(18), 3 / math.Sqrt(18)}, 1e-6)
	closeTo(t, "norm", o.GradNorm().Float64s(), []float64{math.Hypot(300, 4)}, 1e-4)
	o = optim.SGD(p, 1, optim.ClipGradValue(3), optim.RecordGradNorm())
	o.ZeroGrad()
	setGrad(p, []float64{math.NaN(), 4})
	o.Step()
	if v := p.Data(); !math.IsNaN(float64(v[0])) || math.IsNaN(float64(v[1])) || !math.IsNaN(o.GradNorm().Item()) {
		t.Errorf("a gradient of NaN gives %v and the norm %v", v, o.GradNorm())
	}
	q := tensor.Parameter(tensor.FromFloat64s([]float64{1, 1}, 2))
	o = optim.SGD([]*tensor.Tensor{p, q}, 1, optim.RecordGradNorm())
	o.ZeroGrad()
	q.Mul(tensor.FromFloat64s([]float64{3, 4}, 2)).Sum().Backward()
	o.Step()
	if n := o.GradNorm(); n.Item() != 5 || n.DType() != tensor.Float32 {
		t.Errorf("the norm of float64 gradients is %v", n)
	}
}

// TestNAdamOfManySteps compares steps that a scaler makes with those without, far into the training and after a restart.
func TestNAdamOfManySteps(t *testing.T) {
	run := func(scaled bool, restart int) []float64 {
		p := tensor.Parameter(tensor.Ones(3))
		o, scaler := optim.NAdam(p, 0.01), optim.NewGradScaler()
		for i := range 600 {
			if i == restart {
				state := o.State()
				o = optim.NAdam(p, 0.01)
				if err := o.SetState(state); err != nil {
					t.Fatal(err)
				}
			}
			o.ZeroGrad()
			loss := p.Mul(tensor.New([]float32{1, float32(i%7) - 3, 0.25}, 3)).Square().Sum()
			if !scaled {
				loss.Backward()
				o.Step()
				continue
			}
			scaler.Scale(loss).Backward()
			scaler.Step(o)
		}
		return p.Float64s()
	}
	want := run(false, -1)
	closeTo(t, "scaled", run(true, -1), want, 1e-5)
	closeTo(t, "restarted", run(false, 300), want, 0)
	closeTo(t, "scaled, restarted", run(true, 300), run(true, -1), 0)
}

// TestFloat64Parameters requires every optimizer to update float64 parameters as it updates float32 ones, also with a scaler, with
// clipping and after a restart, and Adam to do so with the digits of float64.
func TestFloat64Parameters(t *testing.T) {
	type create = func(model any, rate float64, options ...optim.Option) *optim.Optimizer
	with := func(c create, options ...optim.Option) create {
		return func(model any, rate float64, given ...optim.Option) *optim.Optimizer {
			return c(model, rate, append(given, options...)...)
		}
	}
	start, slope := []float64{1, -2, 3, 4, 0.5, 6}, []float64{0.1, 3, -2, 0.5, 1, -0.25}
	run := func(c create, d tensor.DType, scaled bool) []float64 {
		p := tensor.Parameter(tensor.FromFloat64s(start, 2, 3).Cast(d).Clone())
		model := struct{ P *tensor.Tensor }{p}
		o, scaler := c(&model, 0.01), optim.NewGradScaler()
		for i := range 6 {
			if i == 3 {
				state := o.State()
				for name, s := range state.Tensors {
					if s.DType() != d {
						t.Errorf("%s: the state %s of %v parameters is %v", o.Name(), name, d, s.DType())
					}
				}
				o = c(&model, 0.01)
				if err := o.SetState(state); err != nil {
					t.Fatal(err)
				}
			}
			o.ZeroGrad()
			loss := p.Mul(tensor.FromFloat64s(slope, 2, 3).Cast(d)).Square().Sum()
			if scaled {
				scaler.Scale(loss).Backward()
				scaler.Step(o)
				continue
			}
			loss.Backward()
			o.Step()
		}
		return p.Float64s()
	}
	for name, c := range map[string]create{
		"SGD": optim.SGD, "momentum": with(optim.SGD, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(0.1)),
		"RMSprop": optim.RMSprop, "RMSprop with momentum": with(optim.RMSprop, optim.Momentum(0.9)), "Adagrad": optim.Adagrad, "Lion": optim.Lion,
		"Adam": with(optim.Adam, optim.WeightDecay(0.1)), "AdamW": optim.AdamW, "NAdam": optim.NAdam, "LAMB": optim.LAMB, "Muon": optim.Muon,
		"clipped": with(optim.AdamW, optim.ClipGradNorm(1), optim.ClipGradValue(2), optim.RecordGradNorm()),
	} {
		for _, scaled := range []bool{false, true} {
			tolerance := 1e-5
			if name == "Muon" {
				tolerance = 1e-4 // five iterations that amplify differences
			}
			closeTo(t, name, run(c, tensor.Float64, scaled), run(c, tensor.Float32, scaled), tolerance)
		}
	}
	want := make([]float64, len(start))
	for i := range want {
		x, m, v := start[i], 0., 0.
		for step := 1.; step <= 6; step++ {
			g := 2 * x * slope[i] * slope[i]
			m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
			x -= 0.01 * m / (1 - math.Pow(0.9, step)) / (math.Sqrt(v/(1-math.Pow(0.999, step))) + 1e-8)
		}
		want[i] = x
	}
	closeTo(t, "Adam", run(optim.Adam, tensor.Float64, false), want, 1e-13)
}
