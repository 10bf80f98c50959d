package nn_test

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestCheckpoint trains a model with everything in it, with and without
// checkpoints, and wants equal bits. What memory it saves is tested where it is
// saved, in the tensor package.
func TestCheckpoint(t *testing.T) {
	const rows, width, blocks = 256, 64, 4
	train := func(wrap func(layers ...nn.Module) nn.Module) (numbers []float32) {
		tensor.Seed(4)
		block := func(int) nn.Module {
			return wrap(nn.Dense(width), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1), nn.Dense(width), nn.GELU())
		}
		model := nn.Sequential(nn.Dense(width), nn.Repeat(blocks, block), nn.Dense(3))
		tensor.NoGrad(func() { model.Forward(tensor.Randn(nil, 2, width)) }) // the layers get their parameters
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
	if got := train(nn.Checkpoint); !slices.Equal(got, want) {
		t.Error("other numbers than without checkpoints")
	}
}
