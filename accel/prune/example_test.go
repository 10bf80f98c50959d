package prune_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
)

// Weights are set to zero and stay zero during further training.
func Example() {
	ctx := context.Background()
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	if _, err := accel.Fit(ctx, model, train, accel.Epochs(5), accel.Quiet()); err != nil {
		fmt.Println(err)
		return
	}
	masks, err := prune.Magnitude(model, 0.7)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := accel.Fit(ctx, model, train, accel.Epochs(2), accel.Quiet(), masks.Hold()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(masks)
	// Output: 70.0 % of the weights of 2 layers are zero
}

// Channels makes the tensors smaller and the model faster.
func ExampleChannels() {
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := train.First(8).Tensors()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := prune.Channels(model, batch.X, 0.5); err != nil {
		fmt.Println(err)
		return
	}
	for _, weight := range nn.State(model) {
		fmt.Println(weight.Name, weight.Shape())
	}
	// Output:
	// 1.weight [32 64]
	// 1.bias [32]
	// 3.weight [10 32]
	// 3.bias [10]
}
