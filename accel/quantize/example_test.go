package quantize_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/quantize"
)

func Example() {
	ctx := context.Background()
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	if _, err := accel.Fit(ctx, model, train, accel.Epochs(10), accel.AdamW(3e-3), accel.Quiet()); err != nil {
		fmt.Println(err)
		return
	}
	small, err := quantize.Static(ctx, model, train)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := small.Report(ctx, test)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f times smaller, within a point of the accuracy: %t\n",
		report.SizeRatio(), report.Accuracy[0]-report.Accuracy[1] < 0.01)
	// Output: 3.2 times smaller, within a point of the accuracy: true
}
