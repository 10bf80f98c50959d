package accel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// halves is a data set in two classes: the first input is larger, or the second.
func halves() *data.Dataset {
	var examples [][]float32
	var labels []int
	for i := range 64 {
		a, b := float32(i%8)/8, float32(i/8)/8+0.01
		examples = append(examples, []float32{a, b})
		labels = append(labels, 0)
		if a > b {
			labels[i] = 1
		}
	}
	set, err := data.FromSlices(examples, labels)
	if err != nil {
		log.Fatal(err)
	}
	return set
}

// Evaluate measures a model on a data set, in this case on the one that it was trained with.
func ExampleEvaluate() {
	ctx := context.Background()
	accel.Seed(1)
	set, model := halves(), nn.Dense(2)
	if _, err := accel.Fit(ctx, model, set, accel.Epochs(60), accel.BatchSize(16), accel.AdamW(0.05), accel.Quiet()); err != nil {
		log.Fatal(err)
	}
	result, err := accel.Evaluate(ctx, model, set)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Accuracy() > 0.95)
	// Output: true
}

// Predict computes the outputs of a model in batches, without gradients.
func ExamplePredict() {
	model := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) })
	y, err := accel.Predict(context.Background(), model, tensor.New([]float32{1, 2, 3}, 3, 1), accel.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y.Data())
	// Output: [2 4 6]
}

// After the same seed, two trainings are equal, bit for bit.
func ExampleSeed() {
	losses := make([]float64, 2)
	for i := range losses {
		accel.Seed(7)
		run, err := accel.Fit(context.Background(), nn.Dense(2), halves(), accel.Steps(10), accel.BatchSize(8), accel.SGD(0.1, 0.9), accel.Quiet())
		if err != nil {
			log.Fatal(err)
		}
		losses[i] = run.Loss()
	}
	fmt.Println(losses[0] == losses[1])
	// Output: true
}

// A training ends when a condition holds, which is checked after each step. Losses are read one step late,
// so one more step may be done.
func ExampleStopWhen() {
	run, err := accel.Fit(context.Background(), nn.Dense(2), halves(), accel.Epochs(100), accel.BatchSize(16), accel.AdamW(0.05),
		accel.StopWhen(func(r *accel.Run) bool { return len(r.Steps) == 5 }), accel.Quiet())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(run.Steps) <= 6)
	// Output: true
}

// A model for regression needs another loss and targets that are numbers: here y = 3x.
func ExampleMinimize() {
	accel.Seed(1)
	set, err := data.FromTargets([][]float32{{0}, {1}, {2}, {3}}, [][]float32{{0}, {3}, {6}, {9}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, model := context.Background(), nn.Dense(1)
	_, err = accel.Fit(ctx, model, set, accel.Epochs(300), accel.BatchSize(4), accel.Adam(0.1), accel.Minimize(nn.MSE), accel.Quiet())
	if err != nil {
		log.Fatal(err)
	}
	y, err := accel.Predict(ctx, model, tensor.New([]float32{10}, 1, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", y.Item())
	// Output: 30
}

// The gradients of four batches are added up before an update: 32 examples each time.
func ExampleAccumulate() {
	run, err := accel.Fit(context.Background(), nn.Dense(2), halves(), accel.Epochs(2), accel.BatchSize(8), accel.Accumulate(4), accel.SGD(0.1, 0), accel.Quiet())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(run.Steps), "steps")
	// Output: 4 steps
}

func ExampleMemory() {
	before, err := accel.Memory()
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.Ones(256, 1024)
	with, err := accel.Memory()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(with.Allocated-before.Allocated, "bytes for", x.Numel(), "elements")
	// Output: 1048576 bytes for 262144 elements
}
