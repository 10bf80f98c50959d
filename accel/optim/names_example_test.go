package optim_test

import (
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

func ExampleCosineAnnealingLR() {
	s := optim.CosineAnnealingLR(4, 0.1)
	for step := range 9 {
		fmt.Printf("%.2f ", s.Factor(step))
	}
	fmt.Println()
	// Output: 1.00 0.87 0.55 0.23 0.10 0.23 0.55 0.87 1.00
}

func ExampleExponentialLR() {
	s := optim.ExponentialLR(0.5)
	fmt.Println(s.Factor(0), s.Factor(1), s.Factor(3))
	// Output: 1 0.5 0.125
}

func ExampleMultiStepLR() {
	s := optim.MultiStepLR(0.1, 30, 60)
	fmt.Printf("%.2f %.2f %.2f\n", s.Factor(29), s.Factor(30), s.Factor(60))
	// Output: 1.00 0.10 0.01
}

// A warm-up from a quarter of the learning rate.
func ExampleLinearLR() {
	s := optim.LinearLR(0.25, 1, 3)
	fmt.Println(s.Factor(0), s.Factor(1), s.Factor(2), s.Factor(3), s.Factor(100))
	// Output: 0.25 0.5 0.75 1 1
}

// The gradient 3, 4 is limited to 3, 3 before the update, unlike by ClipGradNorm.
func ExampleClipGradValue() {
	x := tensor.Parameter(tensor.Zeros(2))
	opt := optim.SGD(x, 1, optim.ClipGradValue(3), optim.RecordGradNorm())
	x.Mul(tensor.New([]float32{3, 4}, 2)).Sum().Backward()
	opt.Step()
	fmt.Println(x.Data(), "norm", opt.GradNorm().Item())
	// Output: [-3 -3] norm 5
}

func ExampleNAdam() {
	x := tensor.Parameter(tensor.Zeros())
	opt := optim.NAdam(x, 0.1)
	for range 100 {
		opt.ZeroGrad()
		x.AddScalar(-3).Square().Backward()
		opt.Step()
	}
	fmt.Printf("%.1f\n", x.Item())
	// Output: 3.0
}

// A linear regression in one step.
func ExampleLBFGS() {
	accel.Seed(1)
	x := tensor.New([]float32{0, 1, 2, 3}, 4, 1)
	y := tensor.New([]float32{1, 3, 5, 7}, 4, 1)
	model := nn.Dense(1)
	model.Forward(x) // creates the parameters
	opt := optim.LBFGS(model, 1, optim.StrongWolfe())
	opt.Step(func() *tensor.Tensor {
		loss := nn.MSE(model.Forward(x), y)
		loss.Backward()
		return loss
	})
	fmt.Printf("%.3f·x + %.3f\n", model.Weight.Item(), model.Bias.Item())
	// Output: 2.000·x + 1.000
}
