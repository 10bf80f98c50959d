package tensor_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// A line through four points, fitted by gradient descent.
func Example() {
	x := tensor.New([]float32{0, 1, 2, 3}, 4, 1)
	y := tensor.New([]float32{1, 3, 5, 7}, 4, 1)
	w, b := tensor.Parameter(tensor.Zeros(1, 1)), tensor.Parameter(tensor.Zeros(1))
	for range 500 {
		loss := tensor.MSE(tensor.Linear(x, w, b), y)
		loss.Backward()
		tensor.NoGrad(func() {
			for _, p := range []*tensor.Tensor{w, b} {
				p.Assign(p.Sub(p.Grad().MulScalar(0.1)))
				p.ZeroGrad()
			}
		})
		tensor.Flush()
	}
	fmt.Printf("y = %.2f x + %.2f\n", w.Item(), b.Item())
	// Output: y = 2.00 x + 1.00
}

func ExampleShapeError() {
	defer func() {
		err := recover().(*tensor.ShapeError)
		fmt.Println(err.Op, err.Shapes)
	}()
	tensor.Zeros(2, 3).MatMul(tensor.Zeros(2, 3))
	// Output: MatMul [[2 3] [2 3]]
}

func ExampleTensor_Gather() {
	rows := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	fmt.Println(rows.Gather(tensor.FromInts([]int{2, 0}, 2)))
	// Output:
	// float32[2×2]
	// [[5 6]
	//  [1 2]]
}
