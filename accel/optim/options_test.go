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

// TestInvalidOptions requires a step with an argument outside of its range to fail and to change nothing.
func TestInvalidOptions(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, option := range map[string]optim.Option{
		"WeightDecay(-0.1): the decay must be finite and not negative": optim.WeightDecay(-0.1),
		"WeightDecay(+Inf): the decay":                                 optim.WeightDecay(inf),
		"Momentum(-1): the momentum":                                   optim.Momentum(-1),
		"Momentum(NaN): the momentum":                                  optim.Momentum(nan),
		"Betas(0.9, 1): both must be at least 0 and less than 1":       optim.Betas(0.9, 1),
		"Betas(-0.1, 0.9): both":                                       optim.Betas(-0.1, 0.9),
		"Alpha(1.1): it must be from 0 to 1":                           optim.Alpha(1.1),
		"Epsilon(-1): it must be finite":                               optim.Epsilon(-1),
		"ClipGradNorm(0): the limit must be positive":                  optim.ClipGradNorm(0),
		"ClipGradNorm(NaN): the limit":                                 optim.ClipGradNorm(nan),
		"ClipGradValue(-2): the limit must be positive":                optim.ClipGradValue(-2),
		"RateFactor(-1): the factor":                                   optim.RateFactor(-1),
		"AdamW: Momentum(-2): the momentum":                            optim.Group("*", optim.Momentum(-2)),
	} {
		p := tensor.Parameter(tensor.Ones(2))
		model := struct{ P *tensor.Tensor }{p}
		o := optim.AdamW(&model, 0.1, option)
		p.Sum().Backward()
		for range 2 {
			err := func() (err error) {
				defer nn.Catch(&err)
				o.Step()
				return nil
			}()
			var state *tensor.StateError
			if !errors.As(err, &state) || !strings.Contains(err.Error(), want) {
				t.Errorf("want %s\ngot  %v", want, err)
			}
			if v := p.Data(); v[0] != 1 || o.Steps() != 0 {
				t.Errorf("%s: the step changed something", want)
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
