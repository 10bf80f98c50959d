package accel_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// Layer-wise learning rates and gradual unfreezing: the new head of a pretrained model is trained
// first, one more layer after every four updates, and each layer with half the learning rate of the
// one above it.
func Example_fineTuning() {
	ctx := context.Background()
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(16), nn.ReLU(), nn.Dense(10))
	if _, err := accel.Fit(ctx, model, train.First(256), accel.Epochs(1), accel.Quiet()); err != nil { // or nn.Load
		fmt.Println(err)
		return
	}
	if _, err := nn.ReplaceHead(model, nn.Dense(10)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := accel.PredictDataset(ctx, model, train.First(1)); err != nil { // creates the parameters of the head
		fmt.Println(err)
		return
	}

	layers := []string{"1.*", "3.*", "5.*"} // from the input to the output; nn.NamedParameters lists the names
	thawing, err := nn.UnfreezeGradually(model, 4, layers...)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := func(updates int) error {
		if updates%4 == 1 {
			var names []string
			for _, p := range nn.NamedParameters(model) {
				names = append(names, p.Name)
			}
			fmt.Printf("update %d trains %v\n", updates, names)
		}
		return nil
	}
	run, err := accel.Fit(ctx, model, train.First(256), accel.Steps(12), accel.BatchSize(64), accel.AdamW(0.01),
		accel.Hyperparameters(optim.LayerwiseDecay(0.5, layers...)),
		accel.AfterStep(report), accel.AfterStep(thawing.AfterStep), accel.Quiet())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the loss falls:", run.Steps[11].Loss < run.Steps[0].Loss)
	// Output:
	// update 1 trains [5.weight 5.bias]
	// update 5 trains [3.weight 3.bias 5.weight 5.bias]
	// update 9 trains [1.weight 1.bias 3.weight 3.bias 5.weight 5.bias]
	// the loss falls: true
}
