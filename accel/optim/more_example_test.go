package optim_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// The learning rate is halved every two steps.
func ExampleStepLR() {
	s := optim.StepLR(2, 0.5)
	for step := range 6 {
		fmt.Print(s.Factor(step), " ")
	}
	fmt.Println()
	// Output: 1 1 0.5 0.5 0.25 0.25
}

func ExampleScheduleFunc() {
	s := optim.ScheduleFunc("inverse", func(step int) float64 { return 1 / float64(1+step) })
	fmt.Println(s.Factor(0), s.Factor(3))
	// Output: 1 0.25
}

// A gradient of length 5 is shortened to 1 before the update.
func ExampleClipGradNorm() {
	x := tensor.Parameter(tensor.Zeros(2))
	opt := optim.SGD(x, 1, optim.ClipGradNorm(1))
	x.Mul(tensor.New([]float32{3, 4}, 2)).Sum().Backward()
	opt.Step()
	fmt.Printf("%.1f\n", x.Data())
	// Output: [-0.6 -0.8]
}

// Momentum adds a share of the step before: 1, then 1 + 0.5.
func ExampleMomentum() {
	x := tensor.Parameter(tensor.Zeros(1))
	opt := optim.SGD(x, 1, optim.Momentum(0.5))
	for range 2 {
		opt.ZeroGrad()
		x.Sum().Backward() // the gradient is 1
		opt.Step()
		fmt.Println(x.Item())
	}
	// Output:
	// -1
	// -2.5
}
