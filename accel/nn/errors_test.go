package nn_test

import (
	"errors"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func forwardError(m nn.Module, x *nn.Tensor) (err error) {
	defer nn.Catch(&err)
	m.Forward(x)
	return nil
}

func TestErrorsOfLayers(t *testing.T) {
	used := func(in int, m *nn.DenseLayer) *nn.DenseLayer {
		m.Forward(tensor.Zeros(1, in))
		return m
	}
	var noDense *nn.DenseLayer
	shifts := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.AddScalar(6) })
	reads := nn.Lambda(func(x *nn.Tensor) *nn.Tensor { x.Sum().Item(); return x })
	tests := []struct {
		name  string
		model nn.Module
		x     *nn.Tensor
		want  string
	}{
		{"not flattened", nn.Sequential(nn.ReLU(), used(784, nn.Dense(256))), tensor.Zeros(2, 28, 28),
			"layer 1, Dense(256): Dense: [2 28 28] and [256 784]: expects 784 inputs but got 28; is Flatten missing?"},
		{"other size", nn.Sequential(used(784, nn.Dense(256))), tensor.Zeros(2, 3), "layer 0, Dense(256): Dense: [2 3] and [256 784]: expects 784 inputs but got 3"},
		{"other image", nn.Sequential(used(784, nn.Dense(256))), tensor.Zeros(2, 32, 32), "layer 0, Dense(256): Dense: [2 32 32] and [256 784]: expects 784 inputs but got 32"},
		{"image with channels last", nn.Sequential(nn.ReLU(), used(784, nn.Dense(256))), tensor.Zeros(2, 32, 32, 3),
			"layer 1, Dense(256): Dense: [2 32 32 3] and [256 784]: expects 784 inputs but got 3; is Flatten missing?"},
		{"positions", nn.Sequential(nn.PositionEmbedding(4, 2)), tensor.Zeros(1, 5, 2),
			"layer 0, PositionEmbedding(4, 2): the sequence has 5 positions, but PositionEmbedding(4, 2) has only 4: cut longer sequences, or create the layer with more positions"},
		{"alone", used(4, nn.Dense(2, nn.NoBias())), tensor.Zeros(2, 2, 2), "Dense: [2 2 2] and [2 4]: expects 4 inputs but got 2; is Flatten missing?"},
		{"scalar", used(4, nn.Dense(2)), tensor.Zeros(), "Dense: [] and [2 4]: expects 4 inputs but got a scalar"},
		{"nil", nn.Sequential(nn.ReLU(), nil), tensor.Zeros(1, 2), "layer 1, nil: Forward: the layer is nil: create it before the model, or leave it out"},
		{"nil pointer", nn.Sequential(noDense), tensor.Zeros(1, 2), "layer 0, nil: Forward: the layer is nil: create it before the model, or leave it out"},
		{"nested nil", nn.Sequential(nn.ReLU(), nn.Residual(nn.ReLU(), nil)), tensor.Zeros(1, 2), "layer 1.1, nil: Forward: the layer is nil: create it before the model, or leave it out"},
		{"index", nn.Sequential(nn.Embedding(7, 2)), tensor.FromInts([]int{1, 7}, 1, 2), "layer 0, Embedding(7, 2): IndexSelect: index 7 (element 1) is outside 0..6"},
		{"index that a later layer computes", nn.Sequential(shifts, nn.Embedding(7, 2), reads), tensor.Ones(1, 2), "IndexSelect: index 7 (element 0) is outside 0..6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := forwardError(tt.model, tt.x)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("want %s\ngot  %v", tt.want, err)
			}
		})
	}
	if text := nn.Sequential(nn.ReLU(), nil, noDense).String(); text != "Sequential(ReLU(), nil, nil)" {
		t.Error(text)
	}
	var layer *nn.LayerError
	if err := forwardError(nn.Sequential(nil), tensor.Zeros(1)); !errors.As(err, &layer) || layer.Path != "0" {
		t.Errorf("%#v", err)
	}
}

// identity is a layer whose nil pointer works.
type identity struct{}

func (*identity) Forward(x *nn.Tensor) *nn.Tensor { return x }

func TestNilPointersThatWorkAreLayers(t *testing.T) {
	if err := forwardError(nn.Sequential((*identity)(nil)), tensor.Zeros(1)); err != nil {
		t.Error(err)
	}
}

func TestUnflattenRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"no sizes":          func() { nn.Unflatten() },
		"zero":              func() { nn.Unflatten(2, 0) },
		"other size":        func() { nn.Unflatten(2, 3).Forward(tensor.Zeros(4, 5)) },
		"three dimensions":  func() { nn.Unflatten(2, 3).Forward(tensor.Zeros(4, 2, 3)) },
		"without the batch": func() { nn.Unflatten(2, 3).Forward(tensor.Zeros(6)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*tensor.ShapeError); !ok {
					t.Errorf("%s: no ShapeError", name)
				}
			}()
			f()
		}()
	}
}
