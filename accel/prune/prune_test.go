package prune_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
	"github.com/quernlab/quern/accel/tensor"
)

func digits(t *testing.T) (train, test *data.Dataset) {
	t.Helper()
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	return train.First(600), test.First(150)
}

func fit(t *testing.T, model nn.Module, train *data.Dataset, options ...accel.Option) *accel.Run {
	t.Helper()
	accel.Seed(1)
	run, err := accel.Fit(t.Context(), model, train, append(options, accel.Quiet())...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// linear returns an nn.Sequential of two layers with these weights.
func linear(a, b []float32) (nn.Module, *nn.DenseLayer, *nn.DenseLayer) {
	one, two := nn.Dense(len(a)/2, nn.NoBias()), nn.Dense(1, nn.NoBias())
	model := nn.Sequential(one, two)
	model.Forward(tensor.Zeros(1, 2))
	one.Weight.SetData(a)
	two.Weight.SetData(b)
	return model, one, two
}

func TestMagnitude(t *testing.T) {
	for _, row := range []struct {
		name     string
		sparsity float64
		options  []prune.Option
		a, b     []float32
	}{
		{"nothing", 0, nil, []float32{1, -2, 3, 0.5}, []float32{4, -0.1}},
		{"all together", 0.5, nil, []float32{0, -2, 3, 0}, []float32{4, 0}},
		{"each layer", 0.5, []prune.Option{prune.PerLayer()}, []float32{0, -2, 3, 0}, []float32{4, 0}},
		{"most", 0.67, nil, []float32{0, 0, 3, 0}, []float32{4, 0}},
		{"but for one", 0.5, []prune.Option{prune.Except("1")}, []float32{0, -2, 3, 0}, []float32{4, -0.1}},
	} {
		model, one, two := linear([]float32{1, -2, 3, 0.5}, []float32{4, -0.1})
		masks, err := prune.Magnitude(model, row.sparsity, row.options...)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if a, b := one.Weight.Data(), two.Weight.Data(); !slices.Equal(a, row.a) || !slices.Equal(b, row.b) {
			t.Errorf("%s: %v and %v, want %v and %v", row.name, a, b, row.a, row.b)
		}
		if s := masks.Sparsity(); math.Abs(s-row.sparsity) > 0.01 {
			t.Errorf("%s: the sparsity is %v", row.name, s)
		}
	}
	// Of equal weights the first ones are kept.
	model, one, two := linear([]float32{1, 1, -1, 1}, []float32{1, 1})
	if _, err := prune.Magnitude(model, 1./6); err != nil || !slices.Equal(one.Weight.Data(), []float32{1, 1, -1, 1}) || !slices.Equal(two.Weight.Data(), []float32{1, 0}) {
		t.Errorf("equal weights: %v and %v, %v", one.Weight.Data(), two.Weight.Data(), err)
	}
}

func TestPattern(t *testing.T) {
	model, one, _ := linear([]float32{1, -4, 3, 2, 5, 0.1, 0.3, 0.2}, []float32{1, 2, 3, 4})
	if _, err := prune.Pattern(model, 1, 2, prune.Except("1")); err != nil || !slices.Equal(one.Weight.Data(), []float32{0, -4, 3, 0, 5, 0, 0.3, 0}) {
		t.Errorf("%v, %v", one.Weight.Data(), err)
	}
	layer := nn.Dense(1, nn.NoBias())
	layer.Forward(tensor.Zeros(1, 7))
	layer.Weight.SetData([]float32{1, 2, 3, 4, 5, 6, 7})
	masks, err := prune.Pattern(layer, 2, 4)
	if err != nil || !slices.Equal(layer.Weight.Data(), []float32{0, 0, 3, 4, 0, 6, 7}) {
		t.Errorf("%v, %v", layer.Weight.Data(), err)
	}
	if got := masks.Sparsity(); got != 3./7 {
		t.Errorf("the sparsity is %v", got)
	}
}

func zeros(model nn.Module) (zero, all int) {
	for _, p := range nn.NamedParameters(model) {
		if !strings.HasSuffix(p.Name, "weight") {
			continue
		}
		for _, v := range p.Data() {
			if v == 0 {
				zero++
			}
			all++
		}
	}
	return zero, all
}

// TestMasksHold trains after pruning, with optimizers that have momentum.
func TestMasksHold(t *testing.T) {
	train, _ := digits(t)
	for name, optimizer := range map[string]accel.Option{
		"SGD": accel.SGD(0.1, 0), "momentum": accel.SGD(0.05, 0.9), "AdamW": accel.AdamW(3e-3), "Adam": accel.Adam(3e-3), "LAMB": accel.LAMB(0.01), "Muon": accel.Muon(0.01),
	} {
		model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10))
		fit(t, model, train, accel.Epochs(1), optimizer)
		masks, err := prune.Magnitude(model, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		before := prune.CloneState(model)
		was, all := zeros(model)
		fit(t, model, train, accel.Epochs(2), optimizer, masks.Hold())
		if is, _ := zeros(model); is != was || math.Abs(float64(was)/float64(all)-0.8) > 0.01 {
			t.Errorf("%s: %d of %d weights are zero after training, %d before", name, is, all, was)
		}
		for _, p := range nn.State(model) {
			if p.Name == "1.weight" && slices.Equal(p.Data(), before[p.Name].Data()) {
				t.Errorf("%s: nothing was trained", name)
			}
		}
		// Without Hold the zeros are lost; otherwise the test above would prove nothing.
		fit(t, model, train, accel.Epochs(1), optimizer)
		if is, _ := zeros(model); is > was/2 {
			t.Errorf("%s: without Hold %d of %d weights are zero", name, is, all)
		}
	}
}

func TestGradual(t *testing.T) {
	train, test := digits(t)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	schedule, err := prune.Gradual(model, 0.9, prune.After(40), prune.Until(100), prune.Every(20))
	if err != nil {
		t.Fatal(err)
	}
	for updates, want := range map[int]float64{0: 0, 39: 0, 40: 0, 70: 0.9 - 0.9*0.125, 100: 0.9, 1000: 0.9} {
		if got := schedule.Sparsity(updates); math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d updates: %v, want %v", updates, got, want)
		}
	}
	got := map[int]float64{}
	run := fit(t, model, train, accel.Steps(200), accel.AdamW(3e-3), accel.Validate(test), schedule.Hold(), accel.AfterStep(func(updates int) error {
		zero, all := zeros(model)
		got[updates] = float64(zero) / float64(all)
		return nil
	}))
	for updates, want := range map[int]float64{30: 0, 59: 0, 60: schedule.Sparsity(60), 70: schedule.Sparsity(60), 80: schedule.Sparsity(80), 100: 0.9, 130: 0.9} {
		if math.Abs(got[updates]-want) > 0.001 {
			t.Errorf("after %d updates %v of the weights are zero, want %v", updates, got[updates], want)
		}
	}
	if s := schedule.Masks().Sparsity(); math.Abs(s-0.9) > 0.001 {
		t.Errorf("the masks' sparsity is %v", s)
	}
	if run.Accuracy() < 0.8 {
		t.Errorf("the accuracy is %v", run.Accuracy())
	}
}

func TestRewind(t *testing.T) {
	train, _ := digits(t)
	model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dense(10))
	model.Forward(tensor.Zeros(1, 1, 8, 8))
	start := prune.CloneState(model)
	fit(t, model, train, accel.Epochs(1))
	masks, err := prune.Magnitude(model, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	trained := prune.CloneState(model)
	if err := masks.Rewind(start); err != nil {
		t.Fatal(err)
	}
	for _, p := range nn.State(model) {
		begin, end := start[p.Name].Data(), trained[p.Name].Data()
		for i, v := range p.Data() {
			want := begin[i]
			if strings.HasSuffix(p.Name, "weight") && end[i] == 0 {
				want = 0
			}
			if v != want {
				t.Fatalf("%s[%d] is %v, want %v", p.Name, i, v, want)
			}
		}
	}
	if err := masks.Rewind(nil); err == nil {
		t.Error("nothing is rewound to")
	}
}

func TestRefused(t *testing.T) {
	model := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(2))
	var weight *prune.LayerError
	if _, err := prune.Magnitude(model, 0.5); !errors.As(err, &weight) || weight.Name != "0" {
		t.Errorf("weights that are not there: %v", err)
	}
	x := tensor.Randn(tensor.NewGenerator(1), 3, 5)
	model.Forward(x)
	var sparsity *prune.SparsityError
	for _, s := range []float64{-0.1, 1, 1.5, math.NaN(), math.Inf(1)} {
		for what, f := range map[string]func() error{
			"Magnitude": func() error { _, err := prune.Magnitude(model, s); return err },
			"Gradual":   func() error { _, err := prune.Gradual(model, s, prune.Until(10)); return err },
			"Channels":  func() error { _, err := prune.Channels(model, x, s); return err },
			"From":      func() error { _, err := prune.Gradual(model, 0.5, prune.From(s), prune.Until(10)); return err },
		} {
			if err := f(); !errors.As(err, &sparsity) {
				t.Errorf("%s(%v): %v", what, s, err)
			}
		}
	}
	var whole *prune.EmptyLayerError
	if _, err := prune.Magnitude(model, 0.97, prune.PerLayer()); !errors.As(err, &whole) || whole.Name != "2" {
		t.Errorf("a whole layer: %v", err)
	}
	if _, err := prune.Channels(model, x, 0.9); !errors.As(err, &whole) || whole.Name != "0" {
		t.Errorf("all outputs of a layer: %v", err)
	}
	if zero, _ := zeros(model); zero > 0 {
		t.Errorf("%d weights are zero after errors", zero)
	}
	var unknown *prune.UnknownLayerError
	if _, err := prune.Magnitude(model, 0.5, prune.Except("7")); !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"0", "2"}) {
		t.Errorf("an unknown layer: %v", err)
	}
	for what, err := range map[string]error{
		"Pattern 0 of 4":  second(prune.Pattern(model, 0, 4)),
		"Pattern 5 of 4":  second(prune.Pattern(model, 5, 4)),
		"without Until":   second(prune.Gradual(model, 0.5)),
		"Until first":     second(prune.Gradual(model, 0.5, prune.After(10), prune.Until(10))),
		"backwards":       second(prune.Gradual(model, 0.5, prune.From(0.6), prune.Until(10))),
		"Every(0)":        second(prune.Gradual(model, 0.5, prune.Every(0), prune.Until(10))),
		"no model":        second(prune.Magnitude(nil, 0.5)),
		"nothing to do":   second(prune.Magnitude(nn.ReLU(), 0.5)),
		"no examples":     second(prune.Channels(model, nil, 0.5)),
		"no second model": second(prune.Compare(t.Context(), model, nil, nil)),
		"no set":          second(prune.Compare(t.Context(), model, model, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	masks, err := prune.Magnitude(model, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Channels(model, x, 0.5); err != nil {
		t.Fatal(err)
	}
	if err := masks.Apply(); !errors.As(err, &weight) {
		t.Errorf("masks of a model that was cut: %v", err)
	}
	model.Layers()[0].(*nn.DenseLayer).Weight.SetData(slices.Repeat([]float32{float32(math.NaN())}, 10))
	var number *tensor.NonFiniteError
	if _, err := prune.Magnitude(model, 0.5); !errors.As(err, &number) {
		t.Errorf("weights that are not numbers: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestReport checks that the report gives the cost and the savings of zeros.
func TestReport(t *testing.T) {
	train, test := digits(t)
	newModel := func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10)) }
	model := newModel()
	fit(t, model, train, accel.Epochs(2))
	dense, err := prune.Copy(model, newModel)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Magnitude(model, 0.75); err != nil {
		t.Fatal(err)
	}
	r, err := prune.Compare(t.Context(), dense, model, test)
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Models[0], r.Models[1]
	weights := 64*32 + 32*10
	if a.Weights != weights || a.Zeros != 0 || a.FLOPs != 2*weights || a.NonZero != a.FLOPs {
		t.Errorf("the dense model: %+v", a)
	}
	if b.Weights != weights || b.Zeros != weights*3/4 || b.FLOPs != a.FLOPs || b.NonZero != 2*weights/4 || b.FileBytes != a.FileBytes || b.PackedBytes >= b.FileBytes/2 {
		t.Errorf("the pruned model: %+v", b)
	}
	text := r.String()
	for _, word := range []string{"25.0 % of the operations remain", "Multiplying by zero", "wall time", "FLOPs", "accuracy", "packed"} {
		if !strings.Contains(text, word) {
			t.Errorf("the report does not say %q:\n%s", word, text)
		}
	}
	if !(r.Speedup() > 0) || r.Report().MIMEBundle()["text/html"] == nil {
		t.Error("the report does not show itself")
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		`prune: Magnitude does not take L2(): its options are PerLayer and Except`:      func() error { _, err := prune.Magnitude(nn.Dense(1), 0.5, prune.L2()); return err },
		`prune: Magnitude does not take From(0.5): its options are PerLayer and Except`: func() error { _, err := prune.Magnitude(nn.Dense(1), 0.5, prune.From(0.5)); return err },
		`prune: Pattern does not take PerLayer(): its option is Except`:                 func() error { _, err := prune.Pattern(nn.Dense(1), 2, 4, prune.PerLayer()); return err },
		`prune: Channels does not take Every(2): its options are L2 and Except`: func() error {
			_, err := prune.Channels(nn.Dense(1), tensor.Zeros(1, 1), 0.5, prune.Every(2))
			return err
		},
		`prune: Gradual does not take L2(): its options are Until, After, From, Every, PerLayer and Except`: func() error { _, err := prune.Gradual(nn.Dense(1), 0.5, prune.L2()); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
