package nn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestRecompute trains a model with all kinds of layers, with and without recomputation, and
// requires equal bits. Package tensor tests the memory that it saves.
func TestRecompute(t *testing.T) {
	const rows, width, blocks = 256, 64, 4
	train := func(wrap func(layers ...nn.Module) nn.Module) (numbers []float32) {
		tensors.Seed(4)
		block := func(int) nn.Module {
			return wrap(nn.Dense(width), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1), nn.Dense(width), nn.GELU())
		}
		model := nn.Sequential(nn.Dense(width), nn.Repeat(blocks, block), nn.Dense(3))
		tensor.NoGrad(func() { model.Forward(tensor.Randn(nil, 2, width)) }) // the layers create their parameters
		opt := optim.AdamW(model, 1e-2)
		x := tensor.Randn(nil, rows, width)
		labels := make([]int, rows)
		for i := range labels {
			labels[i] = i % 3
		}
		y := tensor.FromInts(labels, rows)
		for range 3 {
			opt.ZeroGrad()
			loss := nn.CrossEntropy(model.Forward(x), y)
			loss.Backward()
			opt.Step()
		}
		for _, p := range nn.State(model) {
			numbers = append(numbers, p.Data()...)
		}
		return numbers
	}
	want := train(func(layers ...nn.Module) nn.Module { return nn.Sequential(layers...) })
	if got := train(nn.Recompute); !slices.Equal(got, want) {
		t.Error("other values than without recomputation")
	}
}

// TestSetRecompute counts the chains that are split, and checks the layer names in errors of
// such chains.
func TestSetRecompute(t *testing.T) {
	type own struct {
		Body *nn.SequentialLayer
		Head nn.Module
		List []nn.Module
	}
	one := func() *nn.SequentialLayer { return nn.Sequential(nn.Dense(2)) }
	two := func() *nn.SequentialLayer { return nn.Sequential(nn.Dense(2), nn.ReLU()) }
	for name, row := range map[string]struct {
		model any
		want  int
	}{
		"one layer":       {one(), 0},
		"two layers":      {two(), 1},
		"chains in one":   {nn.Sequential(one(), one(), nn.Residual(nn.ReLU(), nn.ReLU())), 1},
		"a struct":        {&own{two(), nn.Residual(nn.Dense(2), nn.ReLU()), []nn.Module{two(), nn.ReLU()}}, 2},
		"not a chain":     {nn.Dense(2), 0},
		"chain of a half": {nn.Repeat(3, func(int) nn.Module { return one() }), 1},
	} {
		if n := nn.SetRecompute(row.model, true); n != row.want {
			t.Errorf("%s: %d chains, want %d", name, n, row.want)
		}
		if n := nn.SetRecompute(row.model, false); n != 0 {
			t.Errorf("%s: %d chains are still cut", name, n)
		}
	}
	model := nn.Sequential(nn.Dense(4), nn.Sequential(nn.ReLU(), nn.Sequential(nn.Dense(3))), nn.Dense(2))
	model.Forward(tensor.Zeros(1, 5))
	nn.SetRecompute(model, true)
	var layer *nn.LayerError
	err := func() (err error) {
		defer nn.Catch(&err)
		model.Forward(tensor.Zeros(1, 6))
		return nil
	}()
	if !errors.As(err, &layer) || layer.Path != "0" {
		t.Errorf("the error is %v", err)
	}
	inner := nn.Sequential(nn.Flatten(), nn.Sequential(nn.ReLU(), nn.Sequential(nn.ReLU(), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.Reshape(7) }))))
	nn.SetRecompute(inner, true)
	err = func() (err error) {
		defer nn.Catch(&err)
		inner.Forward(tensor.Parameter(tensor.Zeros(1, 6)))
		return nil
	}()
	if !errors.As(err, &layer) || layer.Path != "1.1.1" {
		t.Errorf("the error is %v", err)
	}
}
