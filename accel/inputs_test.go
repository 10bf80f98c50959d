package accel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// towers has two inputs, an image and a row of a table, and two outputs: a class and a number.
type towers struct{ image, table, class, number nn.Module }

func (m *towers) Forward(x *nn.Tensor) *nn.Tensor {
	in := nn.Unpack(x, []int{1, 8, 8}, []int{2})
	both := tensor.Concat(1, m.image.Forward(in[0]), m.table.Forward(in[1]))
	return nn.Pack(m.class.Forward(both), m.number.Forward(both))
}

// TestSeveralInputsAndOutputs trains, evaluates and predicts with two inputs and two outputs.
func TestSeveralInputsAndOutputs(t *testing.T) {
	images, _ := digits(t)
	images = images.First(200)
	rows, targets := make([][]float32, images.Len()), make([][]float32, images.Len())
	pixels := make([][]float32, images.Len())
	for i := range rows {
		rows[i] = []float32{float32(i % 7), float32(i % 3)}
		targets[i] = []float32{float32(images.Label(i)), rows[i][0] - rows[i][1]}
		pixels[i] = images.Example(i)
	}
	table, err := data.FromTargets(rows, targets)
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := data.FromTargets(pixels, targets)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.Inputs(pictures, table)
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	model := &towers{nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU()), nn.Dense(4), nn.Dense(10), nn.Dense(1)}
	loss := func(p, y *nn.Tensor) *nn.Tensor {
		ps, ys := nn.Unpack(p, []int{10}, []int{1}), nn.Unpack(y, []int{1}, []int{1})
		return nn.CrossEntropy(ps[0], ys[0].Reshape(-1).Cast(tensor.Int32)).Add(nn.MSE(ps[1], ys[1]))
	}
	run, err := accel.Fit(t.Context(), model, set, accel.Minimize(loss), accel.Epochs(50), accel.AdamW(0.01), accel.Quiet())
	must(t, run, err)
	result, err := accel.Evaluate(t.Context(), model, set)
	if err != nil || !(result.Loss() < 0.3) {
		t.Errorf("the loss is %v, %v", result, err)
	}
	predicted, err := accel.PredictDataset(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range nn.Unpack(predicted, []int{10}, []int{1})[0].ArgMax(1).Ints() {
		if c == images.Label(i) {
			right++
		}
	}
	if right < 190 {
		t.Errorf("%d of 200 classes are right", right)
	}
	_, err = accel.Predict(t.Context(), model, tensor.Zeros(2, 65))
	var shape *tensor.ShapeError
	if !errors.As(err, &shape) || !strings.Contains(err.Error(), "have 66 values together, so x must be [N 66]") {
		t.Errorf("an input is missing: %v", err)
	}
	if _, err := data.Inputs(pictures, table.First(3)); err == nil {
		t.Error("data sets of different lengths")
	}
}

// sequenceModels are models that ignore the padding of sequences.
var sequenceModels = map[string]func() nn.Module{
	"LSTM": func() nn.Module { return nn.Sequential(nn.Embedding(6, 4), nn.LSTM(6, nn.LastOutput())) },
	"both directions": func() nn.Module {
		return nn.Sequential(nn.Embedding(6, 4), nn.GRU(3, nn.Bidirectional()), nn.LastPosition())
	},
	"attention": func() nn.Module {
		return nn.Sequential(nn.Embedding(6, 4), nn.PositionEmbedding(5, 4), nn.SelfAttention(2), nn.MeanPositions())
	},
	"encoder": func() nn.Module {
		return nn.Sequential(nn.Embedding(6, 4), nn.Recompute(nn.TransformerEncoderLayer(2, nn.FeedForward(8))), nn.MeanPositions())
	},
	"grouped": func() nn.Module {
		return nn.Sequential(nn.Embedding(6, 4), nn.GroupedQueryAttention(2, 1, nn.RoPE(100)), nn.LastPosition())
	},
}

// TestSequencesOfDifferentLengths requires that output and gradient of a sequence do not depend on its
// padding.
func TestSequencesOfDifferentLengths(t *testing.T) {
	tokens := [][]int{{1, 2, 3}, {4}, {5, 1, 2, 3, 4}}
	ctx := t.Context()
	of := func(tokens ...[]int) *data.Dataset {
		set, err := data.Sequences(tokens, make([]int, len(tokens)), 0)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	gradient := func(m nn.Module, set *data.Dataset) (all []float32) {
		b, err := set.Tensors()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range nn.Parameters(m) {
			p.ZeroGrad()
		}
		var y *nn.Tensor
		b.WithLengths(func() { y = m.Forward(b.X) })
		y.Square().Sum().Backward() // outside, as Fit does; Recompute computes layers again in it
		for _, p := range nn.Parameters(m) {
			all = append(all, p.Grad().Data()...)
		}
		return all
	}
	for name, model := range sequenceModels {
		t.Run(name, func(t *testing.T) {
			accel.Seed(1)
			m := model()
			all, err := accel.PredictDataset(ctx, m, of(tokens...))
			if err != nil {
				t.Fatal(err)
			}
			nn.Train(m, false)
			width := all.Size(1)
			padded, sum := gradient(m, of(tokens...)), []float32(nil)
			for i, s := range tokens {
				alone, err := accel.PredictDataset(ctx, m, of(s))
				if err != nil {
					t.Fatal(err)
				}
				if got := all.Data()[width*i : width*(i+1)]; !closeValues(alone.Data(), got) {
					t.Errorf("sequence %v: %v alone, %v padded", s, alone.Data(), got)
				}
				g := gradient(m, of(s))
				if sum == nil {
					sum = make([]float32, len(g))
				}
				for k, v := range g {
					sum[k] += v
				}
			}
			if !slices.EqualFunc(padded, sum, func(a, b float32) bool { return a-b < 1e-4 && b-a < 1e-4 }) {
				t.Errorf("gradient %v, but %v of the sequences alone", padded, sum)
			}
			if closeValues(all.Data()[:width], all.Data()[width:2*width]) {
				t.Error("all sequences have the same output")
			}
		})
	}
}

// TestLearnsFromPaddedSequences trains a classifier of the first token, in batches of similar lengths.
func TestLearnsFromPaddedSequences(t *testing.T) {
	var tokens [][]int
	var labels []int
	for i := range 200 {
		s := make([]int, 1+i*7%12)
		for k := range s {
			s[k] = 2 + (i+k)%4
		}
		s[0] = i % 2
		tokens, labels = append(tokens, s), append(labels, i%2)
	}
	set, err := data.Sequences(tokens, labels, 0)
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Embedding(6, 8), nn.PositionEmbedding(12, 8), nn.TransformerEncoderLayer(2, nn.FeedForward(16)), nn.MeanPositions(), nn.Dense(2))
	run, err := accel.Fit(t.Context(), model, set, accel.Epochs(15), accel.BatchSize(16), accel.AdamW(0.01), accel.GroupByLength(), accel.Validate(set), accel.Quiet())
	must(t, run, err)
	if !(run.Accuracy() > 0.95) {
		t.Errorf("accuracy %v", run.Accuracy())
	}
	_, err = accel.Fit(t.Context(), model, set, accel.GroupByLength(), accel.WeightedRandomSampler(make([]float64, 200)), accel.Quiet())
	if err == nil {
		t.Error("two orders of the examples are no error")
	}
	table, err := data.FromSlices([][]float32{{1}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Fit(t.Context(), nn.Dense(1), table, accel.GroupByLength(), accel.Quiet()); err == nil || !strings.Contains(err.Error(), "not sequences") {
		t.Errorf("a table by length: %v", err)
	}
	if _, err := accel.Fit(t.Context(), model, set, accel.Mixup(0.2), accel.Quiet()); err == nil {
		t.Error("mixed tokens are no error")
	}
}

// TestOutputsOfPositions pads outputs of batches whose longest sequences differ.
func TestOutputsOfPositions(t *testing.T) {
	set, err := data.Sequences([][]int{{1, 2}, {3}, {1, 2, 3}}, []int{0, 1, 0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	y, err := accel.PredictDataset(t.Context(), nn.Embedding(4, 2), set, accel.BatchSize(2))
	if err != nil || !slices.Equal(y.Shape(), []int{3, 3, 2}) || !slices.Equal(y.Slice(0, 0, 1).Data()[4:], []float32{0, 0}) {
		t.Errorf("%v, %v", y, err)
	}
}

// TestSequenceIsTooLong requires the example of the sequence that is longer than the positions.
func TestSequenceIsTooLong(t *testing.T) {
	set, err := data.Sequences([][]int{{1, 2}, {3}, {1, 2, 3}, {1, 2}}, []int{0, 1, 0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Embedding(4, 2), nn.PositionEmbedding(2, 2), nn.MeanPositions(), nn.Dense(2))
	_, fit := accel.Fit(t.Context(), model, set, accel.Quiet())
	_, evaluate := accel.Evaluate(t.Context(), model, set)
	for _, err := range []error{fit, evaluate} {
		var example *data.ExampleError
		var length *nn.LengthError
		if !errors.As(err, &example) || !errors.As(err, &length) || example.Example != 2 || length.Length != 3 || length.Longest != 2 {
			t.Errorf("%v, want a LengthError of example 2", err)
		}
	}
}

// TestPaddingIsUnknown uses a layer whose sequences are not those of the batch.
func TestPaddingIsUnknown(t *testing.T) {
	set, err := data.Sequences([][]int{{1, 2}, {3}}, []int{0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	twice := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return tensor.Concat(1, x, x) })
	_, err = accel.PredictDataset(t.Context(), nn.Sequential(nn.Embedding(4, 2), twice, nn.SelfAttention(1)), set)
	var shape *tensor.ShapeError
	if !errors.As(err, &shape) || !strings.Contains(err.Error(), "its padding is unknown") {
		t.Errorf("got %v", err)
	}
}

func closeValues(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x-y < 1e-6 && y-x < 1e-6 })
}
