package nn_test

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestCheckpoint trains a model with everything in it, with and without
// checkpoints, and wants equal bits and less memory.
func TestCheckpoint(t *testing.T) {
	train := func(wrap func(layers ...nn.Module) nn.Module) (numbers []float32, peak int) {
		tensor.Seed(4)
		block := func(int) nn.Module {
			return wrap(nn.Dense(64), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1), nn.Dense(64), nn.GELU())
		}
		model := nn.Sequential(nn.Dense(64), nn.Repeat(6, block), nn.Dense(3))
		tensor.NoGrad(func() { model.Forward(tensor.Randn(nil, 2, 64)) }) // the layers get their parameters
		opt := optim.AdamW(model, 1e-2)
		x := tensor.Randn(nil, 512, 64)
		labels := make([]int, 512)
		for i := range labels {
			labels[i] = i % 3
		}
		y := tensor.FromInts(labels, 512)
		for range 5 {
			opt.ZeroGrad()
			loss := nn.CrossEntropy(model.Forward(x), y)
			loss.Backward()
			opt.Step()
		}
		peak = tensor.Stats().PlanBytes
		for _, p := range nn.State(model) {
			numbers = append(numbers, p.Data()...)
		}
		return numbers, peak
	}
	// The engine keeps the memory of its largest plan: the smaller comes first.
	got, less := train(func(layers ...nn.Module) nn.Module { return nn.Checkpoint(layers...) })
	want, all := train(func(layers ...nn.Module) nn.Module { return nn.Sequential(layers...) })
	if !slices.Equal(got, want) {
		t.Error("other numbers than without checkpoints")
	}
	if !(less < all*8/10) {
		t.Errorf("the plans take %d bytes, with checkpoints %d", all, less)
	}
	t.Logf("memory of the plans: %d bytes, with checkpoints %d", all, less)
}
