package accel_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

func Example() {
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	run, err := accel.Fit(context.Background(), model, train,
		accel.Epochs(10), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("more than nine in ten right:", run.Accuracy() > 0.9)
	// Output: more than nine in ten right: true
}

// A loop of one's own, a level below Fit.
func Example_loop() {
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	opt := optim.AdamW(model, 3e-3)
	for epoch := range 10 {
		it := train.Batches(64, data.Shuffle(1), data.Epoch(epoch))
		for it.Next() {
			b := it.Batch()
			loss := nn.CrossEntropy(model.Forward(b.X), b.Y)
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
		}
	}
	result, err := accel.Evaluate(context.Background(), model, test)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("more than nine in ten right:", result.Accuracy() > 0.9)
	// Output: more than nine in ten right: true
}

func ExampleFit_shape() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	forgotten := nn.Sequential(nn.Dense(64), nn.ReLU(), nn.Dense(10)) // Flatten
	_, err = accel.Fit(context.Background(), forgotten, train, accel.Quiet())
	fmt.Println(err)
	// Output: CrossEntropy: [64 1 8 10] and [64]: logits [N C] and labels [N] are needed
}
