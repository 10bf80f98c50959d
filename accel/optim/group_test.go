package optim_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// twoLayers returns a model whose parameters are the same in each call.
func twoLayers() (*nn.SequentialLayer, *nn.Tensor) {
	m := nn.Sequential(nn.Dense(3), nn.Tanh(), nn.Dense(2))
	x := tensor.Randn(tensor.NewGenerator(3), 4, 5)
	m.Forward(x)
	g := tensor.NewGenerator(4)
	tensor.NoGrad(func() {
		for _, p := range nn.Parameters(m) {
			p.Assign(tensor.Randn(g, p.Shape()...))
		}
	})
	return m, x
}

// train makes three steps with all optimizers and returns the parameters.
func train(m *nn.SequentialLayer, x *nn.Tensor, all ...*optim.Optimizer) (values [][]float64) {
	for range 3 {
		for _, o := range all {
			o.ZeroGrad()
		}
		m.Forward(x).Square().Mean().Backward()
		for _, o := range all {
			o.Step()
		}
	}
	for _, p := range nn.NamedParameters(m) {
		values = append(values, p.Float64s())
	}
	return values
}

// TestGroups compares one optimizer with groups with several optimizers.
func TestGroups(t *testing.T) {
	m, x := twoLayers()
	got := train(m, x, optim.AdamW(m, 0.1,
		optim.Group("*.bias", optim.WeightDecay(0)),
		optim.GroupFunc(func(name string) bool { return strings.HasPrefix(name, "0.") }, optim.RateFactor(0.5))))
	m, x = twoLayers()
	p := nn.Parameters(m)
	none := optim.WeightDecay(0)
	want := train(m, x, optim.AdamW(p[0], 0.05), optim.AdamW(p[1], 0.05, none), optim.AdamW(p[2], 0.1), optim.AdamW(p[3], 0.1, none))
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("parameter %d\n want %v\n got  %v", i, want[i], got[i])
		}
	}

	m, x = twoLayers()
	got = train(m, x, optim.SGD(m, 0.1, optim.LayerwiseDecay(0.5, "0.*", "2.*")))
	m, x = twoLayers()
	p = nn.Parameters(m)
	want = train(m, x, optim.SGD(p[:2], 0.05), optim.SGD(p[2:], 0.1))
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("layerwise, parameter %d\n want %v\n got  %v", i, want[i], got[i])
		}
	}
}

// TestGroupsReject checks that a step with a wrong pattern changes nothing.
func TestGroupsReject(t *testing.T) {
	for _, pattern := range []string{"nothing.*", "[", ""} {
		m, x := twoLayers()
		o := optim.SGD(m, 0.1, optim.Group(pattern))
		before := nn.Parameters(m)[0].Float64s()
		if state := (*tensor.StateError)(nil); !errors.As(o.Err(), &state) {
			t.Errorf("%q: Err is %v, want a StateError", pattern, o.Err())
		}
		m.Forward(x).Square().Mean().Backward()
		err := func() (err error) {
			defer nn.Catch(&err)
			o.Step()
			return nil
		}()
		if state := (*tensor.StateError)(nil); !errors.As(err, &state) {
			t.Errorf("%q: %v, want a StateError", pattern, err)
		}
		if !slices.Equal(before, nn.Parameters(m)[0].Float64s()) || o.Steps() != 0 {
			t.Errorf("%q: the step changed something", pattern)
		}
	}
}

// TestErr requires errors of all steps before the first one.
func TestErr(t *testing.T) {
	m, _ := twoLayers()
	for want, o := range map[string]*optim.Optimizer{
		"":                          optim.AdamW(m, 1e-3, optim.Group("*.bias", optim.WeightDecay(0))),
		"the learning rate is -1":   optim.SGD(m, -1),
		"the learning rate is +Inf": optim.SGD(m, math.Inf(1)),
		"the limit must be":         optim.SGD(m, 1, optim.ClipGradNorm(0)),
		"no parameters":             optim.SGD(nn.Sequential(nn.ReLU()), 1),
		"matches no parameter":      optim.SGD(m, 1, optim.Group("9.*")),
	} {
		if err := o.Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", o, err, want)
		}
	}
}

// TestCustom compares a formula of a user with the built-in SGD.
func TestCustom(t *testing.T) {
	m, x := twoLayers()
	own := optim.Custom("own", m, 0.1, func(u *optim.Update) *tensor.Tensor {
		v, unused := u.States()
		v = v.MulScalar(u.Momentum).Add(u.Gradient)
		u.SetStates(v, unused)
		return u.Parameter.Sub(u.Keep(v.MulScalar(u.LearningRate)))
	}, optim.Momentum(0.9))
	got := train(m, x, own)
	state := own.State()
	if err := own.SetState(state); err != nil || len(state.Tensors) != 8 {
		t.Errorf("%d tensors of state, %v", len(state.Tensors), err)
	}
	m, x = twoLayers()
	want := train(m, x, optim.SGD(m, 0.1, optim.Momentum(0.9)))
	for i := range want {
		for j := range want[i] {
			if math.Abs(got[i][j]-want[i][j]) > 1e-6 {
				t.Errorf("parameter %d: want %v, got %v", i, want[i], got[i])
				break
			}
		}
	}
}

func TestEMA(t *testing.T) {
	p := tensor.Parameter(tensor.Full(1, 2))
	average := optim.NewEMA(p, 0.75)
	want := 1.0
	for _, v := range []float64{1, 3, -2} {
		tensor.NoGrad(func() { p.Assign(tensor.Full(v, 2)) })
		average.Update()
		want = 0.75*want + 0.25*v
	}
	restore := average.Use()
	if got := p.Float64s(); math.Abs(got[0]-want) > 1e-6 {
		t.Errorf("average %v, want %v", got, want)
	}
	restore()
	if got := p.Float64s(); got[0] != -2 {
		t.Errorf("the parameter is %v after restore, want -2", got)
	}
	again := optim.NewEMA(p, 0.75)
	if err := again.SetState(average.State()); err != nil {
		t.Fatal(err)
	}
	restore = again.Use()
	if got := p.Float64s(); math.Abs(got[0]-want) > 1e-6 {
		t.Errorf("the average of a state is %v, want %v", got, want)
	}
	restore()
	for name, state := range map[string]map[string]*tensor.Tensor{"shape": {"": tensor.Zeros(3)}, "name": {"other": tensor.Zeros(2)}} {
		if err := again.SetState(state); err == nil {
			t.Errorf("another %s is no error", name)
		}
	}
	var err error
	func() {
		defer nn.Catch(&err)
		optim.NewEMA(p, 1).Update()
	}()
	if state := (*tensor.StateError)(nil); !errors.As(err, &state) {
		t.Error("a decay of 1 is no error")
	}
}
