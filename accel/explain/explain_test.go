package explain_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/explain"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// images returns images [1, 4, 4] of zeros but one pixel, whose class is the half in which the pixel is.
func images(t *testing.T) *data.Dataset {
	t.Helper()
	var examples [][]float32
	var labels []int
	for i := range 16 {
		x := make([]float32, 16)
		x[i] = 1
		examples, labels = append(examples, x), append(labels, i%4/2)
	}
	set, err := data.FromSlices(examples, labels)
	if err == nil {
		set, err = set.Reshape(1, 4, 4)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// dense returns a layer with these weights, one slice for each output, and no bias.
func dense(rows ...[]float32) *nn.DenseLayer {
	layer := nn.Dense(len(rows), nn.NoBias())
	var flat []float32
	for _, r := range rows {
		flat = append(flat, r...)
	}
	layer.Weight = tensor.Parameter(tensor.New(flat, len(rows), len(rows[0])))
	return layer
}

// The gradient of a linear model is its weights.
func TestSaliencyOfLinearModel(t *testing.T) {
	first, second := make([]float32, 16), make([]float32, 16)
	for i := range 16 {
		first[i], second[i] = float32(i), -2*float32(15-i)-1
	}
	layer := dense(first, second)
	model := nn.Sequential(nn.Flatten(), layer)
	maps, err := explain.Saliency(t.Context(), model, images(t), 3, 12)
	if err != nil {
		t.Fatal(err)
	}
	for k, m := range maps.Maps {
		if m.Class != 0 || m.Height != 4 || m.Width != 4 || m.Example != []int{3, 12}[k] {
			t.Fatalf("%+v", m)
		}
		for i, r := range m.Relevance {
			if math.Abs(r-float64(i)/15) > 1e-6 {
				t.Errorf("pixel %d: %v", i, r)
			}
		}
	}
	if layer.Weight.Grad() != nil || !layer.Weight.RequiresGrad() {
		t.Error("the weights have a gradient, or are frozen")
	}
	if _, ok := maps.Report().MIMEBundle()["image/svg+xml"]; !ok {
		t.Error("no figure")
	}
}

// A convolution that copies the image, whose left half counts for class 0 and right half against it.
func TestGradCAMFindsTheHalf(t *testing.T) {
	conv := nn.Conv2D(2, 1, nn.NoBias())
	conv.Forward(tensor.Zeros(1, 1, 4, 4))
	conv.Weight.SetData([]float32{1, 0}) // channel 1 is zero
	left, right := make([]float32, 32), make([]float32, 32)
	for i := range 16 {
		left[i], right[i] = 1, -1
	}
	inner := nn.Sequential(conv, nn.ReLU())
	model := nn.Sequential(inner, nn.Flatten(), dense(left, right))
	for _, layer := range []nn.Module{conv, inner} {
		maps, err := explain.GradCAM(t.Context(), model, layer, images(t), 5)
		if err != nil {
			t.Fatal(err)
		}
		m := maps.Maps[0]
		for i, r := range m.Relevance { // α₀ = 1, so the map is the image
			if want := map[bool]float64{true: 1}[i == 5]; r != want {
				t.Errorf("pixel %d: %v, want %v", i, r, want)
			}
		}
	}
}

// Known values: torch.nn.functional.interpolate([[0, 1], [2, 3]], (4, 4), mode="bilinear").
func TestGradCAMScalesLikePyTorch(t *testing.T) {
	pool := nn.AvgPool2D(2)
	model := nn.Sequential(pool, nn.Flatten(), dense([]float32{1, 1, 1, 1}, []float32{0, 0, 0, 0}))
	x := make([]float32, 16)
	for i := range 16 {
		x[i] = float32(i/8*2 + i%4/2)
	}
	set, err := data.FromSlices([][]float32{x}, []int{0})
	if err == nil {
		set, err = set.Reshape(1, 4, 4)
	}
	if err != nil {
		t.Fatal(err)
	}
	maps, err := explain.GradCAM(t.Context(), model, pool, set, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0, 0.25, 0.75, 1, 0.5, 0.75, 1.25, 1.5, 1.5, 1.75, 2.25, 2.5, 2, 2.25, 2.75, 3}
	for i, r := range maps.Maps[0].Relevance {
		if math.Abs(3*r-want[i]) > 1e-6 {
			t.Errorf("pixel %d: %v, want %v", i, 3*r, want[i])
		}
	}
}

func TestPermutationImportance(t *testing.T) {
	var examples [][]float32
	var labels []int
	for i := range 64 {
		label := i % 2
		examples = append(examples, []float32{float32(label), float32(i % 7), 5})
		labels = append(labels, label)
	}
	set, err := data.FromSlices(examples, labels)
	if err == nil {
		set, err = set.WithColumns("answer", "noise", "constant")
	}
	if err != nil {
		t.Fatal(err)
	}
	model := dense([]float32{-1, 0, 0.1}, []float32{1, 0, 0}) // 0.5-a for class 0, a for class 1
	r, err := explain.PermutationImportance(t.Context(), model, set, 20)
	if err != nil {
		t.Fatal(err)
	}
	// The shuffled column is right for half of the examples.
	if a := r.Columns[0]; r.Base != 1 || a.Name != "answer" || math.Abs(a.Mean-0.5) > 0.1 || a.Deviation == 0 {
		t.Errorf("base %v, %+v", r.Base, a)
	}
	for _, c := range r.Columns[1:] {
		if c.Mean != 0 || c.Deviation != 0 {
			t.Errorf("%+v", c)
		}
	}
	if first := r.Sorted()[0].Name; first != "answer" {
		t.Error(first)
	}
	again, err := explain.PermutationImportance(t.Context(), model, set, 20)
	if err != nil || again.String() != r.String() {
		t.Errorf("another result: %v, %v", again, err)
	}
}

func TestPermutationImportanceOfTargets(t *testing.T) {
	var examples, targets [][]float32
	for i := range 32 {
		examples = append(examples, []float32{float32(i), float32(i * i % 11)})
		targets = append(targets, []float32{3 * float32(i)})
	}
	set, err := data.FromTargets(examples, targets)
	if err != nil {
		t.Fatal(err)
	}
	r, err := explain.PermutationImportance(t.Context(), dense([]float32{3, 0}), set, 5)
	if err != nil {
		t.Fatal(err)
	}
	// Shuffled predictions have an R² of -1 on average.
	if r.Score != "R²" || r.Base != 1 || math.Abs(r.Columns[0].Mean-2) > 0.5 || r.Columns[1].Mean != 0 {
		t.Errorf("%v", r)
	}
}

func TestWorstMistakes(t *testing.T) {
	set, err := data.FromSlices([][]float32{{2, 0}, {0, 1}, {3, 0}, {0, 2}}, []int{0, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := explain.WorstMistakes(t.Context(), dense([]float32{1, 0}, []float32{0, 1}), set, 1)
	if err != nil {
		t.Fatal(err)
	}
	if m.Wrong != 2 || m.Examples != 4 || len(m.Worst) != 1 {
		t.Fatalf("%+v", m)
	}
	worst := m.Worst[0] // logits 3 and 0 for class 1
	if want := math.Log(1 + math.Exp(3)); worst.Example != 2 || worst.Label != 1 || worst.Predicted != 0 || math.Abs(worst.Loss-want) > 1e-6 {
		t.Errorf("%+v, want loss %v", worst, want)
	}
	if html := m.Report().MIMEBundle()["text/html"].(string); !strings.Contains(html, "<table>") {
		t.Error(html)
	}
	images, err := explain.WorstMistakes(t.Context(), nn.Sequential(nn.Flatten(), dense(make([]float32, 16), []float32{15: 1})), images(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := images.Report().MIMEBundle()["image/svg+xml"]; !ok {
		t.Error("no figure")
	}
}

func TestLayersCountsDeadUnits(t *testing.T) {
	first := dense([]float32{1, 0}, []float32{-1, -1}, []float32{0, 1})
	model := nn.Sequential(first, nn.Sequential(nn.ReLU()), dense([]float32{1, 1, 1}))
	set, err := data.FromTargets([][]float32{{1, 2}, {3, 4}}, [][]float32{{1}, {2}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := explain.Layers(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range table.Rows {
		got = append(got, r.Path+" "+r.Layer)
	}
	if strings.Join(got, "|") != "0 Dense(3, NoBias())|1.0 ReLU()|2 Dense(1, NoBias())" {
		t.Error(got)
	}
	relu := table.Rows[1] // outputs 1 0 2 and 3 0 4
	if relu.Units != 3 || relu.Dead != 1 || math.Abs(relu.Mean-10.0/6) > 1e-6 || math.Abs(relu.Deviation-math.Sqrt(30.0/6-100.0/36)) > 1e-6 {
		t.Errorf("%+v", relu)
	}
	if table.Rows[0].Dead != 0 {
		t.Errorf("%+v", table.Rows[0])
	}
}

func TestGradientFlow(t *testing.T) {
	set, err := data.FromTargets([][]float32{{1, 2}}, [][]float32{{0}})
	if err != nil {
		t.Fatal(err)
	}
	layer := dense([]float32{3, 0})
	kept := tensor.New([]float32{7, 7}, 1, 2)
	layer.Weight.SetGrad(kept)
	g, err := explain.GradientFlow(t.Context(), layer, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The loss is (3·1)², its gradient 2·3·[1 2].
	p := g.Parameters[0]
	if g.Loss != 9 || p.Name != "weight" || math.Abs(p.Norm-6*math.Sqrt(5)) > 1e-5 || p.Weight != 3 || math.Abs(p.Ratio()-2*math.Sqrt(5)) > 1e-5 {
		t.Errorf("%+v", g)
	}
	if got := layer.Weight.Grad().Data(); got[0] != 7 || got[1] != 7 {
		t.Errorf("the caller's gradient is %v", got)
	}
	g, err = explain.GradientFlow(t.Context(), layer, set, nn.L1)
	if err != nil || g.Loss != 3 {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestErrors(t *testing.T) {
	set := images(t)
	flat, err := set.Reshape(16)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := data.FromTargets([][]float32{{1}}, [][]float32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	layer := nn.Dense(2)
	model := nn.Sequential(nn.Flatten(), layer)
	ctx := t.Context()
	saliency := func(m nn.Module, s *data.Dataset, i ...int) error {
		_, err := explain.Saliency(ctx, m, s, i...)
		return err
	}
	gradCAM := func(m, l nn.Module, s *data.Dataset, i ...int) error {
		_, err := explain.GradCAM(ctx, m, l, s, i...)
		return err
	}
	importance := func(s *data.Dataset, rounds int) error {
		_, err := explain.PermutationImportance(ctx, model, s, rounds)
		return err
	}
	mistakes := func(s *data.Dataset, n int) error {
		_, err := explain.WorstMistakes(ctx, model, s, n)
		return err
	}
	layers := func(m nn.Module, s *data.Dataset) error {
		_, err := explain.Layers(ctx, m, s)
		return err
	}
	flow := func(m nn.Module) error {
		_, err := explain.GradientFlow(ctx, m, set, nil)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{saliency(nil, set, 0), "the model is nil"},
		{saliency(model, nil, 0), "the data set is nil"},
		{saliency(model, set.First(0), 0), "is empty"},
		{saliency(model, set), "no examples"},
		{saliency(model, set, 16), "16"},
		{saliency(model, flat, 0), "PermutationImportance explains tables"},
		{saliency(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Detach().Reshape(1, 16) }), set, 0), "does not depend on"},
		{saliency(nn.ReLU(), set, 0), "logits [N, C]"},
		{gradCAM(model, layer, set, 0), "[N, K, H, W] is needed"},
		{gradCAM(model, nn.ReLU(), set, 0), "is not a layer"},
		{gradCAM(model, nil, set, 0), "the layer is nil"},
		{gradCAM(layer, layer, flat, 0), "images have"},
		{gradCAM(nn.Flatten(), layer, set, 0), "only an nn.Sequential"},
		{importance(set, 5), "a table has vectors"},
		{importance(flat, 0), "at least 1"},
		{mistakes(targets, 1), "targets, not classes"},
		{mistakes(set, 0), "at least 1"},
		{layers(layer, set), "only the layers of an nn.Sequential"},
		{layers(nn.Sequential(nn.Conv2D(2, 9)), set), "Conv2D"},
		{flow(nn.Flatten()), "no parameters"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := explain.Saliency(done, model, set, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := explain.Layers(done, model, set); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The explanations of a model that was trained: the figures of the digits need no more than a line each.
func TestTrainedModel(t *testing.T) {
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	conv := nn.Conv2D(8, 3, nn.Same())
	model := nn.Sequential(conv, nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Dense(10))
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(2), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	before, err := accel.Evaluate(t.Context(), model, test)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explain.GradCAM(t.Context(), model, conv, test, 0, 100, 200); err != nil {
		t.Error(err)
	}
	if _, err := explain.Saliency(t.Context(), model, test, 0, 100, 200); err != nil {
		t.Error(err)
	}
	if m, err := explain.WorstMistakes(t.Context(), model, test, 9); err != nil || float64(m.Wrong) != math.Round(360*(1-before.Accuracy())) {
		t.Errorf("%v, %v, accuracy %v", m, err, before.Accuracy())
	}
	if l, err := explain.Layers(t.Context(), model, test); err != nil || len(l.Rows) != 5 || l.Rows[0].Units != 8 {
		t.Errorf("%v, %v", l, err)
	}
	if g, err := explain.GradientFlow(t.Context(), model, train, nil); err != nil || len(g.Parameters) != 6 {
		t.Errorf("%v, %v", g, err)
	}
	after, err := accel.Evaluate(t.Context(), model, test)
	if err != nil || after.Loss() != before.Loss() {
		t.Errorf("the loss changed from %v to %v, %v", before.Loss(), after.Loss(), err)
	}
}
