package prof_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
)

func Example() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
	opt, it := optim.AdamW(model, 1e-3), train.Batches(64)
	report, err := prof.Run(context.Background(), func() error {
		it.Next()
		b := it.Batch()
		defer prof.Span("train step")()
		opt.ZeroGrad()
		nn.CrossEntropy(model.Forward(b.X), b.Y).Backward()
		opt.Step()
		return it.Err()
	}, prof.Warmup(3), prof.Active(5))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, layer := range report.Layers().Rows {
		if layer.Name == "1 Dense(128)" {
			fmt.Println(len(report.Steps), "steps,", layer.Name, "took some of the time:", layer.Total > 0)
		}
	}
	// Output: 5 steps, 1 Dense(128) took some of the time: true
}
