package nn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// A layer finds out its number of inputs at the first batch.
func ExampleDense() {
	layer := nn.Dense(3)
	fmt.Println(len(nn.Parameters(layer)), layer.Forward(tensor.Ones(2, 5)).Shape())
	for _, p := range nn.NamedParameters(layer) {
		fmt.Println(p.Name, p.Tensor.Shape())
	}
	// Output:
	// 0 [2 3]
	// weight [3 5]
	// bias [3]
}

// A kernel of three pixels makes an image two pixels smaller; Same keeps its size.
func ExampleConv2D() {
	images := tensor.Zeros(4, 1, 28, 28)
	fmt.Println(nn.Conv2D(8, 3).Forward(images).Shape(), nn.Conv2D(8, 3, nn.Same()).Forward(images).Shape())
	// Output: [4 8 26 26] [4 8 28 28]
}

func ExampleMaxPool2D() {
	fmt.Println(nn.MaxPool2D(2).Forward(tensor.Zeros(4, 8, 28, 28)).Shape())
	// Output: [4 8 14 14]
}

// A model of your own is any type with a method Forward. Its fields are found.
type twoPaths struct {
	Left, Right *nn.DenseLayer
}

func (m *twoPaths) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Left.Forward(x).Add(m.Right.Forward(x).ReLU())
}

func ExampleModule() {
	model := &twoPaths{nn.Dense(2), nn.Dense(2)}
	model.Forward(tensor.Ones(1, 3))
	for _, p := range nn.NamedParameters(model) {
		fmt.Println(p.Name, p.Tensor.Shape())
	}
	// Output:
	// Left.weight [2 3]
	// Left.bias [2]
	// Right.weight [2 3]
	// Right.bias [2]
}

// Dropout works only while a model is trained.
func ExampleEval() {
	model := nn.Sequential(nn.Dropout(0.5))
	restore := nn.Eval(model)
	fmt.Println(model.Forward(tensor.Ones(4)).Data())
	restore()
	// Output: [1 1 1 1]
}

func ExampleSave() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "model.safetensors")

	x := tensor.Ones(1, 3)
	trained, fresh := nn.Dense(2), nn.Dense(2)
	want := trained.Forward(x).Data()
	if err := nn.Save(file, trained); err != nil {
		log.Fatal(err)
	}
	if err := nn.Load(file, fresh); err != nil {
		log.Fatal(err)
	}
	got := fresh.Forward(x).Data()
	fmt.Println(got[0] == want[0], got[1] == want[1])
	// Output: true true
}

// Frozen parameters keep their values during a training, until Thaw.
func ExampleFreeze() {
	features, head := nn.Dense(4), nn.Dense(2)
	model := nn.Sequential(features, nn.ReLU(), head)
	model.Forward(tensor.Ones(1, 3))
	frozen := nn.Freeze(features)
	fmt.Println(len(nn.Parameters(model)), len(nn.State(model)))
	frozen.Thaw()
	fmt.Println(len(nn.Parameters(model)))
	// Output:
	// 2 4
	// 4
}

// One token each becomes a vector; the recurrent layer keeps the state after the last one.
func ExampleLSTM() {
	model := nn.Sequential(nn.Embedding(100, 16), nn.LSTM(32, nn.LastOutput()), nn.Dense(2))
	fmt.Println(model.Forward(tensor.Zeros(8, 20)).Shape()) // eight texts of twenty tokens
	// Output: [8 2]
}

// With Causal, a position attends to itself and to those before it.
func ExampleSelfAttention() {
	layer := nn.SelfAttention(2, nn.Causal())
	short := layer.Forward(tensor.Ones(1, 2, 4))
	long := layer.Forward(tensor.Concat(1, tensor.Ones(1, 2, 4), tensor.Zeros(1, 1, 4)))
	difference := long.Slice(1, 0, 2).Sub(short).Abs().Sum().Item()
	fmt.Println(long.Shape(), difference < 1e-5) // the third position changes nothing before it
	// Output: [1 3 4] true
}

// The input is added to the output of the layers.
func ExampleResidual() {
	double := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) })
	fmt.Println(nn.Residual(double).Forward(tensor.Ones(2)).Data())
	// Output: [3 3]
}

// A decoder ends with images.
func ExampleUnflatten() {
	decoder := nn.Sequential(nn.Dense(64), nn.Unflatten(1, 8, 8))
	fmt.Println(decoder.Forward(tensor.Zeros(5, 3)).Shape())
	fmt.Println(nn.Unflatten(1, 8, 8))
	// Output:
	// [5 1 8 8]
	// Unflatten(1, 8, 8)
}
