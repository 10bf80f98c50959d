package accel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestDiverged requires the step, the first tensor that was not finite, and the weights from
// before the step.
func TestDiverged(t *testing.T) {
	train, test := digits(t)
	poisoned := func() *data.Dataset {
		function := data.Lambda("poison", func(x []float32, _ []int, _ *rand.Rand) { x[0] = float32(math.Inf(1)) })
		set, err := train.First(64).Map(function)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	broken := mlp(8)
	first, err := train.First(1).Tensors()
	if err != nil {
		t.Fatal(err)
	}
	broken.Forward(first.X)
	tensor.NoGrad(func() { bias := nn.Parameters(broken)[3]; bias.Assign(bias.MulScalar(math.NaN())) })
	result, err := accel.Evaluate(t.Context(), broken, test)
	if err != nil || !math.IsNaN(result.Accuracy()) || !strings.Contains(result.String(), "loss NaN (3.bias is not finite)") {
		t.Errorf("evaluated: %v, %v", result, err)
	}
	cnn := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Sequential(nn.Dense(10)))
	overflow := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1e30).Square() })
	for _, row := range []struct {
		name    string
		model   nn.Module
		set     *data.Dataset
		options []accel.Option
		want    string
	}{
		{"rate", mlp(8), train, []accel.Option{accel.SGD(1e30, 0)}, "the output of Linear in layer 3, Dense(10)"},
		{"images", cnn, train, []accel.Option{accel.SGD(1e36, 0)}, ""},
		{"accumulated", mlp(8), train, []accel.Option{accel.SGD(1e30, 0), accel.Accumulate(3)}, "the output of Linear in layer 3, Dense(10)"},
		{"input", mlp(8), poisoned(), nil, "example 35 of digits, train: number 0 is +Inf after its transforms; 63 more examples are not finite"},
		{"parameter", broken, train, nil, "3.bias"},
		{"function", nn.Sequential(mlp(8), overflow), train, nil, "the output of Square in layer 1, Lambda()"},
		{"recompute", nn.Recompute(nn.Sequential(mlp(8), overflow)), train, nil, "the output of Square in layer 0.1, Lambda()"},
	} {
		t.Run(row.name, func(t *testing.T) {
			accel.Seed(1)
			run, err := accel.Fit(t.Context(), row.model, row.set, append(row.options, accel.Validate(test), accel.Quiet())...)
			var diverged *accel.DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("want a DivergedError, got %v", err)
			}
			if n := len(run.Steps); n != diverged.Step || n > 5 || !(math.IsNaN(diverged.Loss) || math.IsInf(diverged.Loss, 0)) {
				t.Errorf("%d steps, %+v", n, diverged)
			}
			if row.want != "" && diverged.Tensor != row.want || diverged.Tensor == "" || !strings.Contains(err.Error(), diverged.Tensor) {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
			if !strings.Contains(run.Summary(), "stopped in step") || !strings.Contains(run.String(), ", diverged, ") {
				t.Errorf("%q, summary %q", run, run.Summary())
			}
			if card := run.Card(); !math.IsNaN(run.Loss()) || !math.IsNaN(run.Accuracy()) || card.Loss != nil || card.Accuracy != nil {
				t.Errorf("loss %v, accuracy %v, card %v", run.Loss(), run.Accuracy(), card)
			}
			for _, p := range nn.State(row.model) {
				for _, v := range p.Float64s() {
					if v-v != 0 && row.name != "parameter" {
						t.Fatalf("%s has %v after it", p.Name, v)
					}
				}
			}
		})
	}
}
