package history_test

import (
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/history"
)

func ExampleRun_Cost() {
	run := &history.Run{Steps: []history.Step{{}}, Examples: 60_000, Time: history.Timing{Total: 90 * time.Second}}
	cost, err := run.Cost(2) // per hour
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f for %v s\n", cost.Price, cost.Seconds)
	// Output: 0.05 for 90 s
}

// A training loop of your own records its run.
func ExampleRecorder() {
	r := history.NewRecorder(history.Setup{Dataset: "points", Planned: 2, Ranks: 1, LocalRanks: 1})
	start := time.Now()
	r.Begin(start)
	r.BeginEpoch(start)
	for i, loss := range []float64{0.5, 0.25} {
		r.Step(history.Step{Epoch: 1, Loss: loss, Accuracy: math.NaN(), LearningRate: 0.1, Seconds: float64(i + 1)}, 64)
	}
	r.Epoch(history.Epoch{Steps: 2, Loss: 0.375, Accuracy: math.NaN(), Seconds: 2})
	r.Finish(2 * time.Second)
	fmt.Println(r.Run())
	// Output: 1 epoch, 2 steps, training loss 0.3750, 2.0 s
}
