package optim_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Gradient descent finds the minimum of (x-3)².
func Example() {
	x := tensor.Parameter(tensor.Zeros())
	opt := optim.SGD(x, 0.1)
	for range 50 {
		loss := x.AddScalar(-3).Square()
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
	fmt.Printf("%.3f\n", x.Item())
	// Output: 3.000
}

func ExampleWarmupCosine() {
	s := optim.WarmupCosine(2, 6)
	for step := range 7 {
		fmt.Printf("%.3f ", s.Factor(step))
	}
	fmt.Println()
	// Output: 0.500 1.000 1.000 0.854 0.500 0.146 0.000
}
