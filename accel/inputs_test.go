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
	var shape *accel.ShapeError
	if !errors.As(err, &shape) || !strings.Contains(err.Error(), "have 66 values together, so x must be [N 66]") {
		t.Errorf("an input is missing: %v", err)
	}
	if _, err := data.Inputs(pictures, table.First(3)); err == nil {
		t.Error("data sets of different lengths")
	}
}

// reader is a model of sequences with lengths.
type reader struct {
	embedding nn.Module
	lstm      *nn.RecurrentLayer
	longest   int
}

func (m *reader) Forward(x *nn.Tensor) *nn.Tensor {
	in := nn.Unpack(x, []int{m.longest}, []int{1})
	_, final := m.lstm.Run(m.embedding.Forward(in[0]), nn.RecurrentState{}, in[1].Reshape(-1).Cast(tensor.Int32))
	return final.H.Reshape(x.Size(0), 6)
}

// TestSequencesOfDifferentLengths requires that the output for a sequence does not depend on its
// padding.
func TestSequencesOfDifferentLengths(t *testing.T) {
	tokens := [][]int{{1, 2, 3}, {4}, {5, 1, 2, 3, 4}}
	outputs := func(m *reader, tokens [][]int) []float32 {
		set, err := data.Sequences(tokens, make([]int, len(tokens)), 0)
		if err != nil {
			t.Fatal(err)
		}
		m.longest = set.Shape()[0] - 1
		y, err := accel.PredictDataset(t.Context(), m, set)
		if err != nil {
			t.Fatal(err)
		}
		return y.Data()
	}
	accel.Seed(1)
	m := &reader{embedding: nn.Embedding(6, 4), lstm: nn.LSTM(6)}
	all := outputs(m, tokens)
	for i, s := range tokens {
		if alone := outputs(m, [][]int{s}); !closeValues(alone, all[6*i:6*i+6]) {
			t.Errorf("sequence %v: %v alone, %v padded", s, alone, all[6*i:6*i+6])
		}
	}
	if closeValues(all[:6], all[6:12]) {
		t.Error("all sequences have the same output")
	}
	var example *data.ExampleError
	if _, err := data.Sequences([][]int{{1}, {}}, []int{0, 0}, 0); !errors.As(err, &example) || example.Example != 1 {
		t.Errorf("an empty sequence: %v", err)
	}
	if _, err := data.Sequences([][]int{{-1}}, []int{0}, 0); !errors.As(err, &example) {
		t.Errorf("a negative token: %v", err)
	}
}

func closeValues(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x-y < 1e-6 && y-x < 1e-6 })
}
