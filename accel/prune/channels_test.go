package prune_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

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
	for _, options := range [][]prune.Option{nil, {prune.L2()}} {
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
		for name, word := range map[string]string{"0": "", "4": "depthwise", "7.0": "residual", "8.0": "", "8.3": "its nn.Sequential", "9.inner.0": "", "9.inner.2": "its nn.Sequential", "10": "", "14": "", "17": "its nn.Sequential"} {
			if reason, ok := reasons[name]; !ok || word == "" && reason != "" || !strings.Contains(reason, word) {
				t.Errorf("layer %s: %q", name, reason)
			}
		}
		if !strings.Contains(cut.String(), "outputs are left") || !strings.Contains(model.String(), "Conv2D(4, 3, Groups(4), Padding(1))") {
			t.Errorf("%s\n%s", cut, model)
		}
	}
}

// TestElementTypes prunes models whose tensors have other element types. The types remain, and so does what the
// tensors were trained with.
func TestElementTypes(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float64} {
		for name, prunes := range map[string]func(model nn.Module, x *tensor.Tensor) error{
			"Channels":  func(m nn.Module, x *tensor.Tensor) error { _, err := prune.Channels(m, x, 0.5); return err },
			"Magnitude": func(m nn.Module, _ *tensor.Tensor) error { _, err := prune.Magnitude(m, 0.5); return err },
			"Pattern":   func(m nn.Module, _ *tensor.Tensor) error { _, err := prune.Pattern(m, 1, 2); return err },
			"Rewind": func(m nn.Module, _ *tensor.Tensor) error {
				before := prune.CloneState(m)
				masks, err := prune.Magnitude(m, 0.5)
				if err != nil {
					return err
				}
				return masks.Rewind(before)
			},
		} {
			model := nn.Sequential(
				nn.Conv2D(8, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(8, 3, nn.Groups(8), nn.Padding(1)), nn.ReLU(),
				nn.Conv2D(6, 3), nn.ReLU(), nn.Flatten(), nn.Dense(12), nn.ReLU(), nn.Dense(3, nn.NoBias()),
			)
			x := tensor.Randn(tensor.NewGenerator(2), 6, 2, 8, 8)
			model.Forward(x)
			x = x.Cast(d)
			convert := func(t **tensor.Tensor) {
				if *t != nil {
					*t = tensor.Parameter((*t).Detach().Cast(tensor.Float64).AddScalar(1e-12).Cast(d)) // float64 values are no float32
				}
			}
			for _, l := range model.Layers() {
				switch l := l.(type) {
				case *nn.Conv2DLayer:
					convert(&l.Weight)
					convert(&l.Bias)
				case *nn.DenseLayer:
					convert(&l.Weight)
					convert(&l.Bias)
				}
			}
			before := map[string]map[float64]bool{}
			for _, p := range nn.State(model) {
				tensors.SetMetadata(p.Tensor, "trained")
				before[p.Name] = map[float64]bool{0: true}
				for _, v := range p.Float64s() {
					before[p.Name][v] = true
				}
			}
			if err := prunes(model, x); err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
				continue
			}
			if y := model.Forward(x); y.DType() != d {
				t.Errorf("%s of %v: the output is of type %v", name, d, y.DType())
			}
			for _, p := range nn.State(model) {
				if p.DType() != d || !p.RequiresGrad() {
					t.Errorf("%s of %v: %s is of type %v and requires a gradient: %v", name, d, p.Name, p.DType(), p.RequiresGrad())
				}
				if tensors.Metadata(p.Tensor) != "trained" && name != "Rewind" {
					t.Errorf("%s of %v: %s has lost what it was trained with", name, d, p.Name)
				}
				for _, v := range p.Float64s() {
					if !before[p.Name][v] {
						t.Fatalf("%s of %v: %s has the new value %v", name, d, p.Name, v)
					}
				}
			}
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
	r, err := prune.Compare(ctx, dense, model, test)
	if done := meter.Last().Done; done < .9 {
		t.Errorf("%v of a step", done)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Models[0], r.Models[1]; b.FLOPs >= a.FLOPs || b.NonZero != b.FLOPs || b.FileBytes >= a.FileBytes || b.Weights >= a.Weights || r.FLOPsRatio() >= 1 || math.Abs(a.Accuracy-b.Accuracy) > 0.01 {
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

// TestChannelsRefuses checks models in which the outputs of a layer are not the channels of the
// next.
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
		before := prune.CloneState(c.model)
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
	if err != nil || cut.Layers[0].After != 4 || !strings.Contains(cut.Layers[0].Reason, "may mix channels") {
		t.Errorf("a module that is not known: %v, %v", cut, err)
	}
	shared := nn.Dense(6)
	twice := nn.Sequential(shared, nn.ReLU(), shared, nn.ReLU(), nn.Dense(2))
	cut, err = prune.Channels(twice, tensor.Randn(g, 2, 6), 0.5)
	if err != nil || cut.Layers[0].After != 6 || cut.Layers[0].Reason == "" {
		t.Errorf("a layer that is used twice: %v, %v", cut, err)
	}
}
