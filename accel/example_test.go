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

// A training loop of your own, without Fit.
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
	// Output: CrossEntropy: [64 1 8 10] and [64]: logits must be [N C] and labels [N]; is Flatten missing in the model?
}

// slowest is an observer that records the slowest epoch, and ends the training when the loss is
// low enough.
type slowest struct {
	accel.NopObserver // for the methods that it does not define
	enough            float64
	epoch             int
	seconds           float64
}

func (s *slowest) Epoch(t *accel.Training, e accel.Epoch) error {
	if e.Seconds > s.seconds {
		s.epoch, s.seconds = len(t.Run.Epochs), e.Seconds
	}
	if e.Loss < s.enough {
		return accel.ErrStop
	}
	return nil
}

func (s *slowest) End(t *accel.Training, err error) {
	fmt.Printf("ended early: %v, error: %v\n", len(t.Run.Steps) < t.TotalSteps, err)
}

// An observer follows a training and can end it.
func ExampleObserve() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	observer := &slowest{enough: 0.5}
	if _, err := accel.Fit(context.Background(), model, train,
		accel.Epochs(20), accel.AdamW(3e-3), accel.Observe(observer), accel.Quiet()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("some epoch was the slowest:", observer.epoch > 0)
	// Output:
	// ended early: true, error: <nil>
	// some epoch was the slowest: true
}
