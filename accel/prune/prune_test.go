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
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
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

// linear returns a chain of two layers with these weights.
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
		before := prune.Keep(model)
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
		// Without Hold the zeros are lost; otherwise this test would prove nothing.
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
	start := prune.Keep(model)
	fit(t, model, train, accel.Epochs(1))
	masks, err := prune.Magnitude(model, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	trained := prune.Keep(model)
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

// block is a custom module.
type block struct{ inner *nn.SequentialLayer }

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Add(b.inner.Forward(x)) }

func images() (*nn.SequentialLayer, *tensor.Tensor) {
	model := nn.Sequential(
		nn.Conv2D(8, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(8, 3, nn.Groups(8), nn.Padding(1)), nn.BatchNorm(), nn.ReLU(),
		nn.Sequential(nn.Conv2D(6, 1, nn.NoBias()), nn.BatchNorm()),
		nn.Residual(nn.Conv2D(10, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.Conv2D(6, 3, nn.Same())),
		&block{nn.Sequential(nn.Conv2D(4, 1), nn.GELU(), nn.Conv2D(6, 1))},
		nn.Conv2D(5, 3, nn.Same()), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Dense(12), nn.BatchNorm(), nn.ReLU(), nn.Dense(3),
	)
	x := tensor.Randn(tensor.NewGenerator(2), 6, 2, 8, 8)
	for range 3 { // so that the norms have running statistics
		model.Forward(x)
	}
	return model, x
}

func TestChannels(t *testing.T) {
	for _, options := range [][]prune.Option{nil, {prune.Squares()}} {
		model, x := images()
		before := map[string][]int{}
		for _, p := range nn.State(model) {
			before[p.Name] = p.Shape()
		}
		cut, err := prune.Channels(model, x, 0.5, options...)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]int{
			"0.weight": {4, 2, 3, 3}, "0.bias": {4}, "1.weight": {4}, "1.running_var": {4},
			"4.weight": {4, 1, 3, 3}, "4.bias": {4}, "5.running_mean": {4}, "7.0.weight": {6, 4, 1, 1}, "7.1.weight": {6},
			"8.0.weight": {5, 6, 3, 3}, "8.1.bias": {5}, "8.3.weight": {6, 5, 3, 3},
			"9.inner.0.weight": {2, 6, 1, 1}, "9.inner.2.weight": {6, 2, 1, 1},
			"10.weight": {2, 6, 3, 3}, "14.weight": {6, 2 * 16}, "15.weight": {6}, "17.weight": {3, 6}, "17.bias": {3},
		}
		for _, p := range nn.State(model) {
			if w := want[p.Name]; w != nil && !slices.Equal(p.Shape(), w) {
				t.Errorf("%s was %v and is %v, want %v", p.Name, before[p.Name], p.Shape(), w)
			}
			delete(want, p.Name)
		}
		if len(want) > 0 {
			t.Errorf("missing are %v", want)
		}
		reasons := map[string]string{}
		for _, l := range cut.Layers {
			reasons[l.Name] = l.Reason
		}
		for name, word := range map[string]string{"0": "", "4": "depthwise", "7.0": "residual", "8.0": "", "8.3": "its chain", "9.inner.0": "", "9.inner.2": "its chain", "10": "", "14": "", "17": "its chain"} {
			if reason, ok := reasons[name]; !ok || word == "" && reason != "" || !strings.Contains(reason, word) {
				t.Errorf("layer %s: %q", name, reason)
			}
		}
		if !strings.Contains(cut.String(), "outputs are left") || !strings.Contains(model.String(), "Conv2D(4, 3, Groups(4), Padding(1))") {
			t.Errorf("%s\n%s", cut, model)
		}
	}
}

// TestCutFiltersWereNothing removes filters that are zero, which does not change the output;
// the smaller model is trained, quantized and saved like any other.
func TestCutFiltersWereNothing(t *testing.T) {
	train, test := digits(t)
	newModel := func() *nn.SequentialLayer {
		return nn.Sequential(nn.Conv2D(8, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(6, 3), nn.ReLU(), nn.Flatten(), nn.Dense(10))
	}
	model := newModel()
	fit(t, model, train, accel.Epochs(2))
	for i, layer := range model.Layers() {
		if c, ok := layer.(*nn.Conv2DLayer); ok {
			w, b := c.Weight.Data(), c.Bias.Data()
			for o := i % 2; o < len(b); o += 2 {
				clear(w[o*len(w)/len(b):][:len(w)/len(b)])
				b[o] = 0
			}
			c.Weight.SetData(w)
			c.Bias.SetData(b)
		}
	}
	batch, err := test.First(50).Tensors()
	if err != nil {
		t.Fatal(err)
	}
	before, err := accel.Predict(t.Context(), model, batch.X)
	if err != nil {
		t.Fatal(err)
	}
	want := before.Data()
	dense, err := prune.Copy(model, func() nn.Module { return newModel() })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Channels(model, batch.X, 0.5); err != nil {
		t.Fatal(err)
	}
	after, err := accel.Predict(t.Context(), model, batch.X)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range after.Data() {
		if !(math.Abs(float64(v-want[i])) <= 1e-4) {
			t.Fatalf("element %d was %v and is %v", i, want[i], v)
		}
	}
	meter, ctx := display.Measure(t.Context(), "test", 1)
	t.Cleanup(meter.End)
	r, err := prune.Compare(ctx, test, dense, model)
	if done := meter.Last().Done; done < .9 {
		t.Errorf("%v of a step", done)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Models[0], r.Models[1]; b.FLOPs >= a.FLOPs || b.NonZero != b.FLOPs || b.FileBytes >= a.FileBytes || b.Weights >= a.Weights || r.FLOPsLeft() >= 1 || math.Abs(a.Accuracy-b.Accuracy) > 0.01 {
		t.Errorf("%v", r)
	}
	fit(t, model, train, accel.Epochs(1))
	if _, err := quantize.Static(t.Context(), model, train); err != nil {
		t.Error(err)
	}
}

// turned swaps the last two dimensions of its input.
func turned() nn.Module {
	return nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Permute(0, 2, 1) })
}

// TestChannelsRefuses checks models that look like chains of channels but are not.
func TestChannelsRefuses(t *testing.T) {
	g := tensor.NewGenerator(4)
	for name, c := range map[string]struct {
		model *nn.SequentialLayer
		x     *tensor.Tensor
	}{
		"a linear layer over the width":  {nn.Sequential(nn.Conv2D(8, 3, nn.Same()), nn.Dense(3)), tensor.Randn(g, 2, 1, 5, 8)},
		"sequences that are joined":      {nn.Sequential(nn.Dense(4), nn.Flatten(), nn.Dense(3)), tensor.Randn(g, 2, 3, 5)},
		"a norm of places":               {nn.Sequential(nn.Dense(4), nn.BatchNorm(), nn.Dense(3)), tensor.Randn(g, 2, 4, 5)},
		"a norm that is of another size": {nn.Sequential(nn.Dense(4), nn.BatchNorm(), nn.Dense(3)), tensor.Randn(g, 2, 6, 5)},
	} {
		c.model.Forward(c.x)
		before := prune.Keep(c.model)
		text := c.model.String()
		var layer *prune.LayerError
		if cut, err := prune.Channels(c.model, c.x, 0.5); !errors.As(err, &layer) || layer.Name != "0" {
			t.Errorf("%s: %v, %v", name, cut, err)
		}
		if c.model.String() != text {
			t.Errorf("%s: the model is %v", name, c.model)
		}
		for _, p := range nn.State(c.model) {
			if b := before[p.Name]; b == nil || !slices.Equal(p.Shape(), b.Shape()) || !slices.Equal(p.Data(), b.Data()) {
				t.Errorf("%s: %s has changed", name, p.Name)
			}
		}
	}
	model := nn.Sequential(nn.Dense(4), turned(), nn.Dense(3))
	cut, err := prune.Channels(model, tensor.Randn(g, 2, 6, 5), 0.5)
	if err != nil || cut.Layers[0].After != 4 || !strings.Contains(cut.Layers[0].Reason, "not known") {
		t.Errorf("a module that is not known: %v, %v", cut, err)
	}
	shared := nn.Dense(6)
	twice := nn.Sequential(shared, nn.ReLU(), shared, nn.ReLU(), nn.Dense(2))
	cut, err = prune.Channels(twice, tensor.Randn(g, 2, 6), 0.5)
	if err != nil || cut.Layers[0].After != 6 || cut.Layers[0].Reason == "" {
		t.Errorf("a layer that is used twice: %v, %v", cut, err)
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
	var whole *prune.WholeLayerError
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
		"no second model": second(prune.Compare(t.Context(), nil, model, nil)),
		"no set":          second(prune.Compare(t.Context(), nil, model, model)),
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

// TestReport checks that the report says what zeros cost and save.
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
	r, err := prune.Compare(t.Context(), test, dense, model)
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
	for _, word := range []string{"25.0 % of the operations remain", "Multiplying by a zero", "wall time", "FLOPs", "accuracy", "packed"} {
		if !strings.Contains(text, word) {
			t.Errorf("the report does not say %q:\n%s", word, text)
		}
	}
	if !(r.Speedup() > 0) || r.MIMEBundle()["text/html"] == nil {
		t.Error("the report does not show itself")
	}
}
