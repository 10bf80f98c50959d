package tensor_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// Fits a line to four points by gradient descent.
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

func ExampleTensor_IndexSelect() {
	rows := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	fmt.Println(rows.IndexSelect(tensor.FromInts([]int{2, 0}, 2)))
	// Output:
	// float32[2×2]
	// [[5 6]
	//  [1 2]]
}

func ExampleAutocast() {
	x, w := tensor.Ones(2, 3), tensor.Parameter(tensor.Full(1.001, 3, 2))
	tensor.Autocast(tensor.BFloat16, func() {
		y := x.MatMul(w)
		fmt.Println(y.DType(), y.ReLU().DType(), y.Exp().DType())
	})
	// Output:
	// bfloat16 bfloat16 float32
}

func ExampleMaskedAttention() {
	// Two examples with two keys and one key: the second key of the second example is padding.
	q := tensor.Zeros(2, 1, 1, 4)
	k := tensor.Zeros(2, 1, 2, 4)
	v := tensor.New([]float32{1, 3, 1, 3}, 2, 1, 2, 1)
	y := tensor.MaskedAttention(q, k, v, tensor.AttentionMask{Lengths: tensor.FromInts([]int{2, 1}, 2)})
	fmt.Println(y.Reshape(2))
	// Output:
	// float32[2] [2 1]
}

func ExampleTensor_RequireFinite() {
	w := tensor.Parameter(tensor.New([]float32{1, -1}, 2))
	step := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		loss := w.Log().Sum().RequireFinite("loss") // the logarithm of a negative number
		loss.Backward()
		tensor.NoGrad(func() { w.Assign(w.Sub(w.Grad())) })
		tensor.Flush()
		return nil
	}
	fmt.Println(step())
	fmt.Println(w)
	// Output:
	// loss is NaN
	// float32[2] [1 -1]
}
