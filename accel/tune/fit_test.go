package tune_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tune"
)

// TestWatch checks that unpromising trainings are stopped.
func TestWatch(t *testing.T) {
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	train, test = train.First(500), test.First(100)
	search, err := tune.Run(t.Context(), func(t *tune.Trial) (float64, error) {
		run, err := accel.Fit(context.Background(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train,
			accel.Epochs(4), accel.SGD(t.LogFloat("rate", 1e-5, 1), 0), accel.Validate(test), accel.Quiet(), t.Watch())
		return run.Loss(), err
	}, tune.Random(), tune.Trials(8), tune.Halving(1, 2), tune.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	for _, trial := range search.Trials {
		switch {
		case trial.State == tune.Stopped:
			stopped++
		case trial.State != tune.Finished, len(trial.Reports) != 4, trial.Value != trial.Reports[3].Value:
			t.Errorf("%v with %v", trial, trial.Reports)
		}
	}
	if stopped == 0 || stopped == len(search.Trials) {
		t.Errorf("%d of %d trials were stopped", stopped, len(search.Trials))
	}
}

func ExampleRun() {
	search, err := tune.Run(context.Background(), func(t *tune.Trial) (float64, error) {
		x := t.Float("x", -10, 10)
		return (x - 3) * (x - 3), nil
	}, tune.Grid(21), tune.Quiet())
	fmt.Println(search.Best(), err)
	// Output: trial 14: 0 with x 3 <nil>
}

func ExampleGP() {
	search, err := tune.Run(context.Background(), func(t *tune.Trial) (float64, error) {
		rate, width := t.LogFloat("rate", 1e-5, 1), t.Int("width", 8, 128)
		return math.Pow(math.Log10(rate)+3, 2) + math.Abs(float64(width-64))/64, nil
	}, tune.GP(), tune.Trials(40), tune.Quiet())
	fmt.Printf("%.2f %v\n", search.Best().Value, err)
	// Output: 0.00 <nil>
}
