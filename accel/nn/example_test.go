package nn_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// block is a module, since it has the method Forward. Its parameters are found in its fields.
type block struct{ up, down nn.Module }

func (b *block) Forward(x *nn.Tensor) *nn.Tensor {
	return x.Add(b.down.Forward(b.up.Forward(x).ReLU()))
}

func Example() {
	model := nn.Sequential(
		nn.Flatten(),
		nn.Dense(32), nn.ReLU(),
		&block{nn.Dense(64), nn.Dense(32)},
		nn.Dense(10),
	)
	y := model.Forward(tensor.Zeros(5, 1, 8, 8))
	fmt.Println(y.Shape())
	for _, p := range nn.NamedParameters(model) {
		fmt.Println(p.Name, p.Shape())
	}
	// Output:
	// [5 10]
	// 1.weight [32 64]
	// 1.bias [32]
	// 3.up.weight [64 32]
	// 3.up.bias [64]
	// 3.down.weight [32 64]
	// 3.down.bias [32]
	// 4.weight [10 32]
	// 4.bias [10]
}

func ExampleSummary() {
	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
	fmt.Println(nn.Summary(model, 1, 8, 8))
	// Output:
	//    layer       output   parameters   FLOPs
	//    input       [1 8 8]
	// 0  Flatten()   [64]
	// 1  Dense(128)  [128]          8320  16.4 k
	// 2  ReLU()      [128]
	// 3  Dense(10)   [10]           1290  2.56 k
	// 9610 parameters, 18.9 k FLOPs per example
}
