package active_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

func Example() {
	ctx := context.Background()
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	pool := active.NewPool(train, 30, 42)
	curve := &active.Curve{}
	for range 4 {
		accel.Seed(1)
		model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
		if _, err := accel.Fit(ctx, model, pool.Labeled(), accel.Steps(200), accel.BatchSize(32), accel.AdamW(3e-3), accel.Quiet()); err != nil {
			fmt.Println(err)
			return
		}
		result, err := accel.Evaluate(ctx, model, test)
		if err != nil {
			fmt.Println(err)
			return
		}
		curve.Add(pool.Len(), result.Accuracy())
		pick, err := active.Query(ctx, model, pool, active.Margin(), 30)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := pool.Label(pick); err != nil {
			fmt.Println(err)
			return
		}
	}
	first, last := curve.Points[0], curve.Points[3]
	fmt.Println(last.Labels, "labels are better than", first.Labels, "by more than ten points:", last.Accuracy > first.Accuracy+0.1)
	// Output: 120 labels are better than 30 by more than ten points: true
}

// A custom measure: the probability that a guess drawn from the probabilities is wrong.
func ExampleFunc() {
	gini := active.Func("gini", func(p []float64) float64 {
		wrong := 1.0
		for _, v := range p {
			wrong -= v * v
		}
		return wrong
	})
	fmt.Println(gini)
	// Output: gini
}
