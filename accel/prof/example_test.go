package prof_test

import (
	"context"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
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

// Serving measures requests of several sizes.
func ExampleServing() {
	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
	images := tensor.Randn(nil, 64, 8, 8)
	report, err := prof.Serving(context.Background(), model, images, prof.BatchSizes(1, 16, 64), prof.LatencyLimit(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range report.Sizes {
		fmt.Println(b.Batch, "examples:", len(b.Times), "requests, median below p99:", b.Latency(0.5) <= b.Latency(0.99))
	}
	// Output:
	// 1 examples: 100 requests, median below p99: true
	// 16 examples: 100 requests, median below p99: true
	// 64 examples: 100 requests, median below p99: true
}

func ExampleReport_Alignment() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(100), nn.ReLU(), nn.Dense(10))
	opt, it := optim.AdamW(model, 1e-3), train.Batches(64)
	report, err := prof.Run(context.Background(), func() error {
		it.Next()
		b := it.Batch()
		opt.ZeroGrad()
		nn.CrossEntropy(model.Forward(b.X), b.Y).Backward()
		opt.Step()
		return it.Err()
	}, prof.Active(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range report.Alignment(tensor.Float16).Rows {
		if m.Layer == "1 Dense(100)" {
			fmt.Println(m.Layer, m.Size, m.Of)
		}
	}
	// Output: 1 Dense(100) 100 outputs
}
