package accel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// blobs returns n points in two classes around (-1, -1) and (1, 1), scaled by scale; a share of them has
// class 1.
func blobs(t testing.TB, n int, share, scale float64) *data.Dataset {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var x [][]float32
	var labels []int
	for i := range n {
		class := 0
		if float64(i) < share*float64(n) {
			class = 1
		}
		at := float64(2*class - 1)
		x = append(x, []float32{float32(scale * (at + random.NormFloat64())), float32(scale * (at + random.NormFloat64()))})
		labels = append(labels, class)
	}
	set, err := data.FromSlices(x, labels)
	if err == nil {
		set, err = set.WithClasses("no", "yes")
	}
	if err != nil {
		t.Fatal(err)
	}
	return set.Shuffled(1)
}

// doubles returns n points with targets 2x.
func doubles(t testing.TB, n int) *data.Dataset {
	t.Helper()
	var x, y [][]float32
	random := rand.New(rand.NewPCG(2, uint64(n)))
	for range n {
		v := float32(random.NormFloat64())
		x, y = append(x, []float32{v}), append(y, []float32{2 * v})
	}
	set, err := data.FromTargets(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func twoLayers(out int) *nn.SequentialLayer {
	return nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(out))
}

func sigmoid() nn.Module { return nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.Sigmoid() }) }
func softmax() nn.Module { return nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.Softmax(1) }) }

// asColumn is a loss that compares predictions [N, 1] with targets [N].
func asColumn(prediction, target *nn.Tensor) *nn.Tensor {
	return prediction.Sub(target.Reshape(target.Numel())).Square().Mean()
}

// tall is a model of eight layers with sigmoids.
func tall() *nn.SequentialLayer {
	layers := []nn.Module{}
	for range 10 {
		layers = append(layers, nn.Dense(16), sigmoid())
	}
	return nn.Sequential(append(layers, nn.Dense(2))...)
}

// ownModel is a model that is no chain.
type ownModel struct{ A, B nn.Module }

func (m *ownModel) Forward(x *nn.Tensor) *nn.Tensor { return m.B.Forward(m.A.Forward(x)) }

// TestMistakesAreFound trains with typical mistakes, and in the same way without.
func TestMistakesAreFound(t *testing.T) {
	set := blobs(t, 400, 0.5, 1)
	train, validation := set.Split(0.75)
	images := func(scale float32) *data.Dataset {
		train, _ := digits(t)
		train = train.First(200)
		var x [][]float32
		var labels []int
		for i := range train.Len() {
			e := train.Example(i)
			for k := range e {
				e[k] *= scale
			}
			x, labels = append(x, e), append(labels, train.Label(i))
		}
		s, err := data.FromSlices(x, labels)
		if err == nil {
			s, err = s.Reshape(1, 8, 8)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	colored := func(shape ...int) *data.Dataset {
		random := rand.New(rand.NewPCG(3, 4))
		var x [][]float32
		var labels []int
		for i := range 200 {
			pixels := make([]float32, 192)
			for k := range pixels {
				pixels[k] = float32(random.NormFloat64()) + float32(i%10)/5
			}
			x, labels = append(x, pixels), append(labels, i%10)
		}
		s, err := data.FromSlices(x, labels)
		if err == nil {
			s, err = s.Reshape(shape...)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	targets := doubles(t, 300)
	var points, answers [][]float32
	for i := range train.Len() {
		points, answers = append(points, train.Example(i)), append(answers, []float32{float32(train.Label(i))})
	}
	binary, err := data.FromTargets(points, answers)
	if err != nil {
		t.Fatal(err)
	}
	var far [][]float32
	for i := range targets.Len() {
		far = append(far, []float32{1000 * targets.Target(i)[0]})
	}
	thousands, err := targets.WithTargetValues(far)
	if err != nil {
		t.Fatal(err)
	}
	threefold, err := train.Subset(slices.Concat(indices(0, 200), indices(0, 200), indices(0, 200)))
	if err != nil {
		t.Fatal(err)
	}
	copies, copiesToo := threefold.RandomSplit(0.8, 1)
	huge := func() *nn.SequentialLayer {
		m := twoLayers(2)
		m.Forward(tensor.Zeros(1, 2))
		for _, p := range nn.Parameters(m) {
			p.SetData(p.MulScalar(100).Data())
		}
		return m
	}
	mixed, err := train.First(200).Subset(indices(0, 150))
	if err != nil {
		t.Fatal(err)
	}
	conv := func() *nn.SequentialLayer {
		return nn.Sequential(nn.Conv2D(8, 3), nn.ReLU(), nn.Flatten(), nn.Dense(10))
	}
	dead := func(dropout float64) *nn.SequentialLayer {
		first := nn.Dense(16)
		first.Forward(tensor.Zeros(1, 2))
		first.Bias.SetData(constant(16, -100))
		return nn.Sequential(first, nn.ReLU(), nn.Dropout(dropout), nn.Dense(2))
	}
	for _, test := range []struct {
		name, want string
		good       accelTraining
		bad        accelTraining
	}{
		{"softmax", "remove the Softmax", accelTraining{twoLayers(2), train, nil}, accelTraining{nn.Sequential(twoLayers(2), softmax()), train, nil}},
		{"sigmoid", "remove the Sigmoid", accelTraining{twoLayers(1), binary, options(accel.Minimize(nn.BCEWithLogits))},
			accelTraining{nn.Sequential(twoLayers(1), sigmoid()), binary, options(accel.Minimize(nn.BCEWithLogits))}},
		{"sigmoid and weights", "remove the Sigmoid", accelTraining{twoLayers(1), binary, options(accel.Minimize(nn.BCEWithLogitsLoss(3)))},
			accelTraining{nn.Sequential(twoLayers(1), sigmoid()), binary, options(accel.Minimize(nn.BCEWithLogitsLoss(3)))}},
		{"sigmoid for classes", "remove the Sigmoid", accelTraining{twoLayers(2), train, nil}, accelTraining{nn.Sequential(twoLayers(2), sigmoid()), train, nil}},
		{"softmax in the loss", "remove the Softmax", accelTraining{twoLayers(2), train, nil}, accelTraining{twoLayers(2), train, options(accel.Minimize(func(p, y *nn.Tensor) *nn.Tensor {
			return nn.CrossEntropy(p.Softmax(1), y)
		}))}},
		{"softmax by hand", "remove the Softmax", accelTraining{twoLayers(2), train, nil}, accelTraining{nn.Sequential(twoLayers(2), nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
			return x.Exp().Div(x.Exp().Sum(1).Unsqueeze(1))
		})), train, nil}},
		{"softmax of one output", "which is always 1", accelTraining{twoLayers(1), binary, options(accel.Minimize(nn.BCEWithLogits))},
			accelTraining{nn.Sequential(twoLayers(1), nn.Softmax(1)), binary, options(accel.Minimize(nn.BCEWithLogits))}},
		{"ReLU at the end", "remove the ReLU at the end", accelTraining{twoLayers(2), train, nil}, accelTraining{nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(2), nn.ReLU()), train, nil}},
		{"NLL of logits", "takes logarithms of probabilities", accelTraining{nn.Sequential(twoLayers(2), nn.LogSoftmax(1)), train, options(accel.Minimize(nn.NLL))},
			accelTraining{twoLayers(2), train, options(accel.Minimize(nn.NLL), accel.Steps(5))}},
		{"targets", "the targets are large", accelTraining{twoLayers(1), targets, options(accel.AdamW(1e-2))}, accelTraining{twoLayers(1), thousands, nil}},
		{"a rate that is far too high for regression", "always predicting the mean", accelTraining{twoLayers(1), targets, options(accel.AdamW(1e-2))}, accelTraining{twoLayers(1), targets, options(accel.AdamW(3))}},
		{"copies before the split", "are also in the training set", accelTraining{twoLayers(2), train, options(accel.Validate(validation))}, accelTraining{twoLayers(2), copies, options(accel.Validate(copiesToo))}},
		{"initial weights", "the weights or the examples are far too large", accelTraining{twoLayers(2), train, nil}, accelTraining{huge(), train, options(accel.Adam(1e-3))}},
		{"linear layers", "follow each other without an activation", accelTraining{twoLayers(2), train, nil}, accelTraining{nn.Sequential(nn.Dense(16), nn.Dense(2)), train, nil}},
		{"linear layers of an own model", "follow each other without an activation", accelTraining{&ownModel{twoLayers(16), nn.Sequential(nn.ReLU(), nn.Dense(2))}, train, nil},
			accelTraining{&ownModel{nn.Dense(16), nn.Dense(2)}, train, nil}},
		{"linear layers with dropout", "follow each other without an activation", accelTraining{nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dropout(0.2), nn.Dense(2)), train, nil},
			accelTraining{nn.Sequential(nn.Dense(16), nn.Dropout(0.2), nn.Dense(2)), train, nil}},
		{"convolutions", "two convolutions, from 1 to 8 and to 8 channels, follow each other", accelTraining{nn.Sequential(nn.Conv2D(8, 3), nn.ReLU(), nn.Conv2D(8, 3), nn.ReLU(), nn.Flatten(), nn.Dense(10)), images(1), nil},
			accelTraining{nn.Sequential(nn.Conv2D(8, 3), nn.Conv2D(8, 3), nn.ReLU(), nn.Flatten(), nn.Dense(10)), images(1), nil}},
		{"a convolution and a linear layer", "a convolution to 8 channels and a linear layer to 10 values follow each other", accelTraining{conv(), images(1), nil},
			accelTraining{nn.Sequential(nn.Conv2D(8, 3), nn.Flatten(), nn.Dense(10)), images(1), nil}},
		{"sigmoid by hand", "remove the Sigmoid", accelTraining{twoLayers(1), binary, options(accel.Minimize(nn.BCEWithLogits))},
			accelTraining{nn.Sequential(twoLayers(1), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return tensor.Ones(1).Div(x.Neg().Exp().AddScalar(1)) })), binary, options(accel.Minimize(nn.BCEWithLogits))}},
		{"one class", "have the class no", accelTraining{twoLayers(2), train, nil}, accelTraining{twoLayers(2), blobs(t, 100, 0, 1), nil}},
		{"imbalance", "97 % of the examples have the class no", accelTraining{twoLayers(2), blobs(t, 300, 0.2, 1), nil}, accelTraining{twoLayers(2), blobs(t, 300, 0.03, 1), nil}},
		{"scale of columns", "the values of column", accelTraining{twoLayers(2), train, nil}, accelTraining{twoLayers(2), blobs(t, 300, 0.5, 1e6), nil}},
		{"tiny values", "are small", accelTraining{twoLayers(2), train, nil}, accelTraining{twoLayers(2), blobs(t, 300, 0.5, 1e-5), nil}},
		{"images to 255", "divide them by 255", accelTraining{conv(), images(1), nil}, accelTraining{conv(), images(255), nil}},
		{"channels last", "images have the channels first", accelTraining{conv(), colored(3, 8, 8), nil}, accelTraining{conv(), colored(8, 8, 3), nil}},
		{"validation is training", "the validation set is the training set", accelTraining{twoLayers(2), train, options(accel.Validate(validation))},
			accelTraining{twoLayers(2), train, options(accel.Validate(train))}},
		{"validation in training", "are also in the training set", accelTraining{twoLayers(2), train, options(accel.Validate(validation))},
			accelTraining{twoLayers(2), train, options(accel.Validate(mixed))}},
		{"too many outputs", "the model has 7 outputs for 2 classes", accelTraining{twoLayers(2), train, nil}, accelTraining{twoLayers(7), train, nil}},
		{"a loss that broadcasts", "broadcasts to all pairs", accelTraining{twoLayers(1), targets, nil}, accelTraining{twoLayers(1), targets, options(accel.Minimize(asColumn))}},
		{"a low rate", "is too low", accelTraining{twoLayers(2), train, options(accel.Adam(1e-3))}, accelTraining{twoLayers(2), train, options(accel.Adam(1e-8))}},
		{"a high rate", "is too high", accelTraining{nn.Dense(2), train, nil}, accelTraining{nn.Dense(2), train, options(accel.Adam(20))}},
		{"dead units", "16 of the 16 units of layer 0 are 0 behind ReLU", accelTraining{twoLayers(2), train, nil}, accelTraining{dead(0), train, nil}},
		{"dead units in a struct", "16 of the 16 units of layer A.0 are 0", accelTraining{&ownModel{twoLayers(16), nn.Sequential(nn.ReLU(), nn.Dense(2))}, train, nil},
			accelTraining{&ownModel{dead(0), nn.Identity()}, train, nil}},
		{"dead units in a chain in a chain", "16 of the 16 units of layer 0.0 are 0", accelTraining{nn.Sequential(twoLayers(2)), train, nil}, accelTraining{nn.Sequential(dead(0)), train, nil}},
		{"dead units before dropout", "16 of the 16 units of layer 0 are 0", accelTraining{nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dropout(0.5), nn.Dense(2)), train, nil}, accelTraining{dead(0.5), train, nil}},
		{"vanishing gradients", "the gradient vanishes", accelTraining{twoLayers(2), train, nil}, accelTraining{tall(), train, nil}},
		{"random labels", "guessing among 2 classes", accelTraining{twoLayers(2), train, nil}, accelTraining{tall(), train, options(accel.SGD(1e-3, 0))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if notes := test.good.notes(t); len(notes) > 0 {
				t.Errorf("without the mistake: %q", notes)
			}
			if notes := test.bad.notes(t); !strings.Contains(strings.Join(notes, "\n"), test.want) {
				t.Errorf("%q is not in %q", test.want, notes)
			}
			test.bad.options = append(test.bad.options, accel.NoChecks())
			if notes := test.bad.notes(t); len(notes) > 0 {
				t.Errorf("with NoChecks: %q", notes)
			}
		})
	}
}

func options(all ...accel.Option) []accel.Option { return all }

func constant(n int, v float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}

func indices(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// accelTraining is a training whose notes are compared.
type accelTraining struct {
	model   nn.Module
	train   *data.Dataset
	options []accel.Option
}

func (a accelTraining) notes(t *testing.T) []string {
	t.Helper()
	accel.Seed(1)
	run, err := accel.Fit(t.Context(), a.model, a.train, append([]accel.Option{accel.Quiet(), accel.BatchSize(32), accel.Epochs(6)}, a.options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return run.Notes
}

// TestGoodTrainingsHaveNoFindings trains twenty models in usual ways.
func TestGoodTrainingsHaveNoFindings(t *testing.T) {
	digitsTrain, digitsTest := digits(t)
	digitsTrain, digitsTest = digitsTrain.First(600), digitsTest.First(200)
	two, twoTest := blobs(t, 400, 0.4, 1).Split(0.8)
	numbers, numbersTest := doubles(t, 400).Split(0.8)
	flat, err := digitsTrain.Reshape(64)
	if err != nil {
		t.Fatal(err)
	}
	var sine [][]float32
	for i := range 300 {
		sine = append(sine, []float32{float32(math.Sin(float64(i) / 5))})
	}
	series, err := data.TimeSeries(sine, 16, 1)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int
	for i := range 1500 {
		tokens = append(tokens, i*i%17)
	}
	windows, err := data.Windows(tokens, 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	reconstruct := func() (y [][]float32) {
		for i := range flat.Len() {
			y = append(y, flat.Example(i))
		}
		return y
	}()
	images, err := data.FromTargets(reconstruct, reconstruct)
	if err != nil {
		t.Fatal(err)
	}
	binary := func(prediction, class *nn.Tensor) *nn.Tensor {
		return nn.BCEWithLogits(prediction.Reshape(prediction.Size(0)), class.Cast(tensor.Float32))
	}
	sequences, err := digitsTrain.Reshape(8, 8)
	if err != nil {
		t.Fatal(err)
	}
	rare := blobs(t, 400, 0.05, 1)
	weight := 0.
	for name, g := range map[string]accelTraining{
		"attention behind a layer": {nn.Sequential(nn.Dense(16), nn.TransformerEncoderLayer(2), nn.MeanPositions(), nn.Dense(10)), sequences, nil},
		"gated":                    {&gated{nn.Dense(16), nn.Dense(16), nn.Dense(16), nn.Dense(10)}, flat, nil},
		"a rare class":             {twoLayers(2), rare, options(accel.Validate(blobs(t, 60, 0.2, 1)), accel.Metrics(metrics.F1()), accel.AdamW(1e-2))},
		"a loss that grows": {nn.Sequential(nn.Dense(32), nn.ReLU(), nn.Dense(64)), images, options(accel.Minimize(func(p, y *nn.Tensor) *nn.Tensor {
			return nn.MSE(p, y).Add(p.Abs().Mean().MulScalar(weight))
		}), accel.AfterStep(func(updates int) error { weight = float64(updates); return nil }))},
		"metric learning":     {nn.Sequential(nn.Dense(32), nn.ReLU(), nn.Dense(16)), flat, options(accel.Minimize(nn.BatchHardTriplet(1)))},
		"scale before a norm": {nn.Sequential(nn.Dense(16), nn.BatchNorm(), nn.ReLU(), nn.Dense(2)), blobs(t, 300, 0.5, 1e4), nil},
		"MLP":                 {mlp(64), digitsTrain, options(accel.Validate(digitsTest))},
		"deep MLP":            {nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(64), nn.ReLU(), nn.Dense(64), nn.ReLU(), nn.Dense(10)), digitsTrain, nil},
		"linear model":        {nn.Dense(10), flat, nil},
		"tanh":                {nn.Sequential(nn.Dense(32), nn.Tanh(), nn.Dense(10)), flat, nil},
		"CNN":                 {nn.Sequential(nn.Conv2D(8, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(10)), digitsTrain, options(accel.Validate(digitsTest))},
		"batch norm":          {nn.Sequential(nn.Conv2D(8, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Dense(10)), digitsTrain, options(accel.SGD(0.1, 0.9))},
		"ResNet":              {nn.Sequential(nn.Conv2D(8, 3, nn.Padding(1)), nn.Residual(nn.Conv2D(8, 3, nn.Padding(1)), nn.ReLU()), nn.Flatten(), nn.Dense(10)), digitsTrain, nil},
		"separable":           {nn.Sequential(nn.Conv2D(4, 1), nn.ReLU(), nn.Conv2D(4, 3, nn.Groups(4)), nn.Conv2D(8, 1), nn.ReLU(), nn.Flatten(), nn.Dense(10)), digitsTrain, options(accel.AdamW(1e-2))},
		"SGD":                 {mlp(32), digitsTrain, options(accel.SGD(0.1, 0.9))},
		"Lion":                {mlp(32), digitsTrain, options(accel.Lion(1e-3))},
		"warm-up":             {mlp(32), digitsTrain, options(accel.AdamW(1e-2), accel.WarmupCosine(20))},
		"mixup":               {mlp(64), digitsTrain, options(accel.Mixup(0.2))},
		"label smoothing":     {mlp(64), digitsTrain, options(accel.Minimize(nn.CrossEntropyLoss(nn.LabelSmoothing(0.1))))},
		"small batches":       {mlp(32), digitsTrain.First(150), options(accel.Accumulate(2))},
		"BF16":                {mlp(32), digitsTrain, options(accel.AMP(accel.BF16))},
		"regression":          {twoLayers(1), numbers, options(accel.Validate(numbersTest), accel.AdamW(1e-2))},
		"yes or no":           {twoLayers(1), two, options(accel.Minimize(binary), accel.AdamW(1e-2))},
		"two classes":         {twoLayers(2), two, options(accel.Validate(twoTest))},
		"autoencoder":         {nn.Sequential(nn.Dense(32), nn.ReLU(), nn.Dense(8), nn.Dense(32), nn.ReLU(), nn.Dense(64)), images, nil},
		"LSTM":                {nn.Sequential(nn.LSTM(16, nn.LastOutput()), nn.Dense(1)), series, options(accel.AdamW(1e-2))},
		"language model":      {nn.Sequential(nn.Embedding(17, 16), nn.LSTM(16), nn.Dense(17)), windows, options(accel.AdamW(1e-2))},
		"transformer":         {nn.Sequential(nn.Embedding(17, 16), nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())), nn.LayerNorm(), nn.Dense(17)), windows, options(accel.AdamW(1e-2))},
	} {
		t.Run(name, func(t *testing.T) {
			if notes := g.notes(t); len(notes) > 0 && !strings.HasPrefix(notes[0], "AMP") {
				t.Errorf("%q", notes)
			}
		})
	}
}

// gated is a model with a gated linear unit.
type gated struct{ In, Value, Gate, Out nn.Module }

func (m *gated) Forward(x *nn.Tensor) *nn.Tensor {
	h := m.In.Forward(x)
	return m.Out.Forward(m.Value.Forward(h).Mul(m.Gate.Forward(h).Sigmoid()))
}

// TestFitLeavesNoGradients continues a training with a loop that calls ZeroGrad last.
func TestFitLeavesNoGradients(t *testing.T) {
	train := blobs(t, 100, 0.5, 1)
	model := twoLayers(2)
	for name, f := range map[string]func() error{
		"Fit":    func() error { _, err := accel.Fit(t.Context(), model, train, accel.Quiet()); return err },
		"Check":  func() error { _, err := accel.Check(t.Context(), model, train, accel.OverfitBatch()); return err },
		"FindLR": func() error { _, err := accel.FindLR(t.Context(), model, train, accel.Quiet()); return err },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
		for _, p := range nn.NamedParameters(model) {
			if p.Grad() != nil {
				t.Errorf("%s leaves a gradient of %s", name, p.Name)
			}
		}
	}
}

// TestCheck compares what Check finds, and requires that it restores the model.
func TestCheck(t *testing.T) {
	train, validation := blobs(t, 400, 0.5, 1).Split(0.75)
	model := twoLayers(2)
	accel.Seed(1)
	good, err := accel.Check(t.Context(), model, train, accel.Validate(validation), accel.OverfitBatch(), accel.Adam(0.1))
	if err != nil || len(good.Overfit) != 200 {
		t.Fatalf("%v, %v", good, err)
	}
	before := weights(model)
	for name, test := range map[string]struct {
		want    string
		options []accel.Option
	}{
		"validation": {"the validation set is the training set", options(accel.Validate(train))},
		"rate":       {"but FindLR suggests", options(accel.Adam(1e-7))},
		"one batch":  {"does not learn one batch of 64 examples by heart", options(accel.Adam(1e-6), accel.OverfitBatch())},
	} {
		found, err := accel.Check(t.Context(), model, train, test.options...)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(found.String(), test.want) {
			t.Errorf("%s: %q is not in %v", name, test.want, found)
		}
	}
	if !slices.Equal(before, weights(model)) {
		t.Error("the weights have changed")
	}
	rare := blobs(t, 300, 0.03, 1)
	if r, err := accel.Check(t.Context(), model, rare, accel.Adam(0.1)); err != nil || !strings.Contains(r.String(), "97 %") {
		t.Errorf("a rare class: %v, %v", r, err)
	}
	if r, err := accel.Check(t.Context(), model, rare, accel.Adam(0.1), accel.Validate(validation), accel.Metrics(metrics.F1())); err != nil || len(r.Notes) > 0 {
		t.Errorf("a rare class with F1: %v, %v", r, err)
	}
	if _, err := accel.Fit(t.Context(), model, train, accel.OverfitBatch()); err == nil || !strings.Contains(err.Error(), "is an option of Check") {
		t.Error(err)
	}
	if _, err := accel.Check(t.Context(), model, train, accel.DerivedFrom(model)); err == nil || !strings.HasPrefix(err.Error(), "accel: Check: DerivedFrom") {
		t.Error(err)
	}
	if r, err := accel.Check(t.Context(), nil, train); err == nil || !strings.Contains(r.String(), "did not finish") {
		t.Errorf("without a model: %v, %v", r, err)
	}
}

// TestChecksChangeNothing requires the same weights with and without the checks.
func TestChecksChangeNothing(t *testing.T) {
	train, validation := digits(t)
	train, validation = train.First(300), validation.First(100)
	trained := func(more ...accel.Option) []uint32 {
		accel.Seed(3)
		model := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Dense(10))
		_, err := accel.Fit(t.Context(), model, train, append(options(accel.Quiet(), accel.Epochs(3), accel.Validate(validation), accel.Mixup(0.2)), more...)...)
		if err != nil {
			t.Fatal(err)
		}
		return weights(model)
	}
	with, without := trained(), trained(accel.NoChecks())
	for i := range with {
		if with[i] != without[i] {
			t.Fatalf("weight %d: %v and %v", i, math.Float32frombits(with[i]), math.Float32frombits(without[i]))
		}
	}
}
