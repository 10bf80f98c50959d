package accel_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// between returns targets from low to high for points from -1 to 1.
func between(t testing.TB, low, high float32) *data.Dataset {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	var x, y [][]float32
	for range 300 {
		v := 2*random.Float32() - 1
		x, y = append(x, []float32{v}), append(y, []float32{low + (high-low)*(v*v)})
	}
	return fromTargets(t, x, y)
}

func fromTargets(t testing.TB, x, y [][]float32) *data.Dataset {
	t.Helper()
	set, err := data.FromTargets(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// changed returns a set whose examples and labels a function has changed.
func changed(t testing.TB, set *data.Dataset, change func(x []float32, label int) int) *data.Dataset {
	t.Helper()
	var x [][]float32
	var labels []int
	for i := range set.Len() {
		e := set.Example(i)
		labels = append(labels, change(e, set.Label(i)))
		x = append(x, e)
	}
	made, err := data.FromSlices(x, labels)
	if err == nil {
		made, err = made.WithClasses(set.Classes()...)
	}
	if err == nil {
		made, err = made.Reshape(set.Shape()...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// withLabels returns the examples whose labels are from low to high.
func withLabels(t testing.TB, set *data.Dataset, low, high int) *data.Dataset {
	t.Helper()
	var at []int
	for i := range set.Len() {
		if label := set.Label(i); label >= low && label <= high {
			at = append(at, i)
		}
	}
	part, err := set.Subset(at)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// partly is a model with a part that its function Forward may leave out.
type partly struct {
	Used, Other nn.Module
	forward     func(m *partly, x *nn.Tensor) *nn.Tensor
}

func (m *partly) Forward(x *nn.Tensor) *nn.Tensor { return m.forward(m, x) }

// lambda is a layer that is a function.
func lambda(f func(x *nn.Tensor) *nn.Tensor) nn.Module { return nn.Lambda(f) }

// zeros returns two layers whose first one is 0.
func zeros() *nn.SequentialLayer {
	m := twoLayers(2)
	m.Forward(tensor.Zeros(1, 2))
	for _, p := range nn.Parameters(m)[:2] {
		p.SetData(make([]float32, p.Numel()))
	}
	return m
}

// TestMoreMistakesAreFound trains with mistakes that are rarer, and in the same way without.
func TestMoreMistakesAreFound(t *testing.T) {
	train, test := digits(t)
	train, test = train.First(600), test.First(200)
	two := blobs(t, 400, 0.5, 1)
	three := blobs(t, 300, 0.5, 1)
	unit, wide := between(t, 0, 1), between(t, -2, 2)
	numbers, numbersTest := doubles(t, 400).Split(0.8)
	validated := func(set *data.Dataset) []accel.Option { return options(accel.Validate(set)) }
	var points, shares, counts, probabilities [][]float32
	for i := range three.Len() {
		points = append(points, three.Example(i))
		class := float32(three.Label(i))
		shares = append(shares, []float32{3 * class})
		counts = append(counts, []float32{140 + 20*class})
		probabilities = append(probabilities, []float32{class, 1 - class})
	}
	yes := shares[:0:0]
	for _, s := range shares {
		yes = append(yes, []float32{s[0] / 3})
	}
	var scaled [][]float32
	for i := range numbersTest.Len() {
		scaled = append(scaled, []float32{-3 * numbersTest.Target(i)[0]})
	}
	otherTargets, err := numbersTest.WithTargetValues(scaled)
	if err != nil {
		t.Fatal(err)
	}
	bce := options(accel.Minimize(nn.BCEWithLogits))
	kl := options(accel.Minimize(nn.KLDiv))
	crossEntropy := func(sign float64) []accel.Option {
		return options(accel.Minimize(func(p, y *nn.Tensor) *nn.Tensor {
			if sign < 0 {
				return nn.CrossEntropy(p, y).Neg()
			}
			return nn.CrossEntropy(p, y)
		}), accel.Steps(20))
	}
	cnn := func(between ...nn.Module) nn.Module {
		layers := append([]nn.Module{nn.Conv2D(8, 3)}, between...)
		return nn.Sequential(append(layers, nn.Flatten(), nn.Dense(10))...)
	}
	deadUnits := func(bias float32) nn.Module {
		first := nn.Dense(16)
		first.Forward(tensor.Zeros(1, 2))
		return nn.Sequential(first, lambda(func(x *nn.Tensor) *nn.Tensor { return x.AddScalar(float64(bias)) }), nn.ReLU(), nn.Dense(2))
	}
	scale := lambda(func(x *nn.Tensor) *nn.Tensor { return x.MulScalar(0.5).AddScalar(1) })
	both := func(m *partly, x *nn.Tensor) *nn.Tensor { return m.Used.Forward(x).Add(m.Other.Forward(x)) }
	for _, test := range []struct {
		name, want string
		good       accelTraining
		bad        accelTraining
	}{
		{"sorted split", "has only classes that the training set does not have, 7, 8, 9", accelTraining{mlp(32), train, validated(test)},
			accelTraining{mlp(32), withLabels(t, train, 0, 6), validated(withLabels(t, test, 7, 9))}},
		{"a new class", "the class 9 of the validation set", accelTraining{mlp(32), withLabels(t, train, 0, 8), validated(withLabels(t, test, 0, 8))},
			accelTraining{mlp(32), withLabels(t, train, 0, 8), validated(test)}},
		{"shifted labels", "is as bad as guessing", accelTraining{mlp(32), train, validated(test)},
			accelTraining{mlp(32), train, validated(changed(t, test, func(_ []float32, label int) int { return (label + 1) % 10 }))}},
		{"order of columns", "is as bad as guessing", accelTraining{mlp(32), train, append(validated(test), accel.AdamW(1e-2))},
			accelTraining{mlp(32), train, append(validated(changed(t, test, func(x []float32, label int) int {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
				return label
			})), accel.AdamW(1e-2))}},
		{"validation to 255", "prepare both in the same way", accelTraining{mlp(32), train, validated(test)},
			accelTraining{mlp(32), train, validated(changed(t, test, func(x []float32, label int) int {
				for i := range x {
					x[i] *= 255
				}
				return label
			}))}},
		{"targets of the validation", "always predicting the mean of the training targets gives", accelTraining{twoLayers(1), numbers, append(validated(numbersTest), accel.AdamW(1e-2))},
			accelTraining{twoLayers(1), numbers, append(validated(otherTargets), accel.AdamW(1e-2))}},
		{"softmax over the batch", "over axis 0, which is that of the 32 examples", accelTraining{twoLayers(2), two, nil}, accelTraining{nn.Sequential(twoLayers(2), nn.Softmax(0)), two, nil}},
		{"softmax over the batch within", "over axis 0", accelTraining{nn.Sequential(nn.Dense(16), nn.Softmax(1), nn.Dense(2)), two, options(accel.AdamW(1e-2))},
			accelTraining{nn.Sequential(nn.Dense(16), nn.Softmax(0), nn.Dense(2)), two, nil}},
		{"KLDiv of logits", "takes logarithms of probabilities", accelTraining{nn.Sequential(twoLayers(2), nn.LogSoftmax(-1)), fromTargets(t, points, probabilities), kl},
			accelTraining{twoLayers(2), fromTargets(t, points, probabilities), kl}},
		{"targets of BCE", "BCEWithLogits takes probabilities as targets, from 0 to 1", accelTraining{twoLayers(1), fromTargets(t, points, yes), bce}, accelTraining{twoLayers(1), fromTargets(t, points, shares), bce}},
		{"minus", "remove the minus", accelTraining{twoLayers(2), two, crossEntropy(1)}, accelTraining{twoLayers(2), two, crossEntropy(-1)}},
		{"detached", "no step gave a gradient to 0.weight, 0.bias", accelTraining{twoLayers(2), two, nil},
			accelTraining{nn.Sequential(nn.Dense(16), lambda(func(x *nn.Tensor) *nn.Tensor { return x.Detach() }), nn.ReLU(), nn.Dense(2)), two, nil}},
		{"unused", "no step used layer Other", accelTraining{&partly{twoLayers(2), nn.Dense(2), both}, two, nil},
			accelTraining{&partly{twoLayers(2), nn.Dense(2), func(m *partly, x *nn.Tensor) *nn.Tensor { return m.Used.Forward(x) }}, two, nil}},
		{"tanh before the loss", "remove the Tanh", accelTraining{nn.Sequential(nn.Dense(16), nn.Tanh(), nn.Dense(2)), two, nil}, accelTraining{nn.Sequential(twoLayers(2), nn.Tanh()), two, nil}},
		{"clamp before the loss", "remove the Clamp", accelTraining{nn.Sequential(twoLayers(2), lambda(func(x *nn.Tensor) *nn.Tensor { return x.Clamp(-10, 10) })), two, nil},
			accelTraining{nn.Sequential(twoLayers(2), lambda(func(x *nn.Tensor) *nn.Tensor { return x.Clamp(0, 1) })), two, nil}},
		{"tanh in the loss", "remove the Tanh", accelTraining{twoLayers(1), fromTargets(t, points, yes), bce}, accelTraining{twoLayers(1), fromTargets(t, points, yes), options(accel.Minimize(func(p, y *nn.Tensor) *nn.Tensor {
			return nn.BCEWithLogits(p.Tanh(), y)
		}))}},
		{"softmax and dropout", "remove the Softmax", accelTraining{twoLayers(2), two, nil}, accelTraining{nn.Sequential(twoLayers(2), softmax(), nn.Dropout(0.2)), two, nil}},
		{"sigmoid for regression", "the model ends with a sigmoid", accelTraining{nn.Sequential(twoLayers(1), nn.Sigmoid()), unit, options(accel.AdamW(1e-2))},
			accelTraining{nn.Sequential(twoLayers(1), nn.Sigmoid()), wide, nil}},
		{"ReLU for regression", "the model ends with ReLU", accelTraining{twoLayers(1), wide, options(accel.AdamW(3e-2))}, accelTraining{nn.Sequential(twoLayers(1), nn.ReLU()), wide, nil}},
		{"linear layers and a scale", "follow each other without an activation", accelTraining{nn.Sequential(nn.Dense(16), scale, nn.ReLU(), nn.Dense(2)), two, nil},
			accelTraining{nn.Sequential(nn.Dense(16), scale, nn.Dense(2)), two, nil}},
		{"average pooling", "a convolution to 8 channels and a linear layer to 10 values follow each other", accelTraining{cnn(nn.ReLU(), nn.AvgPool2D(2)), train, nil},
			accelTraining{cnn(nn.AvgPool2D(2)), train, nil}},
		{"dead units behind a sum", "16 of the 16 units of layer 0 are 0 behind ReLU", accelTraining{deadUnits(0.1), two, nil}, accelTraining{deadUnits(-100), two, nil}},
		{"weights of 0", "initialize them with random values", accelTraining{twoLayers(2), two, nil}, accelTraining{zeros(), two, nil}},
		{"counts", "the targets are large", accelTraining{nn.Sequential(twoLayers(1), lambda(func(x *nn.Tensor) *nn.Tensor { return x.AddScalar(4) })), fromTargets(t, points, counts), options(accel.Minimize(nn.PoissonNLL), accel.AdamW(1e-2))},
			accelTraining{twoLayers(1), fromTargets(t, points, counts), nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if notes := test.good.notes(t); len(notes) > 0 {
				t.Errorf("without the mistake: %q", notes)
			}
			if notes := test.bad.notes(t); !strings.Contains(strings.Join(notes, "\n"), test.want) {
				t.Errorf("%q is not in %q", test.want, notes)
			}
		})
	}
}

// A loss that is 0 from the beginning cannot fall, which is no finding.
func TestOverfitBatchWithoutLoss(t *testing.T) {
	train, _ := digits(t)
	none := accel.Minimize(func(y, _ *tensor.Tensor) *tensor.Tensor { return y.MulScalar(0).Mean() })
	r, err := accel.Check(t.Context(), mlp(4), train.First(64), accel.OverfitBatch(), none)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Overfit) == 0 || strings.Contains(r.String(), "by heart") {
		t.Errorf("%v", r)
	}
}
