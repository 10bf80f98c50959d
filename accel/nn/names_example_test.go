package nn_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// The windows of five columns overlap in the middle one.
func ExampleAdaptiveAvgPool2D() {
	image := tensor.New([]float32{1, 2, 3, 4, 5}, 1, 1, 1, 5)
	fmt.Println(nn.AdaptiveAvgPool2D(1, 2).Forward(image).Data())
	// Output: [2 4]
}

// Four channels of one pixel become one of 2×2 pixels.
func ExamplePixelShuffle() {
	x := tensor.New([]float32{1, 2, 3, 4}, 1, 4, 1, 1)
	fmt.Println(nn.PixelShuffle(2).Forward(x))
	// Output:
	// float32[1×1×2×2]
	// [[[[1 2]
	//    [3 4]]]]
}

// The third token of each bag is padding.
func ExampleEmbeddingBag() {
	model := nn.Sequential(nn.EmbeddingBag(1000, 16, nn.BagPadding(0)), nn.Dense(2))
	fmt.Println(model.Forward(tensor.FromInts([]int{5, 17, 0, 8, 8, 0}, 2, 3)).Shape())
	// Output: [2 2]
}

func ExamplePReLU() {
	x := tensor.New([]float32{-4, 4}, 2)
	fmt.Println(nn.PReLU().Forward(x).Data())
	// Output: [-1 4]
}

func ExampleSoftplus() {
	fmt.Printf("%.3f\n", nn.Softplus().Forward(tensor.New([]float32{-10, 0, 10}, 3)).Data())
	// Output: [0.000 0.693 10.000]
}

func ExampleSoftmax() {
	x := tensor.New([]float32{0, 0, 0, 0}, 1, 4)
	fmt.Println(nn.Softmax(-1).Forward(x).Data())
	// Output: [0.25 0.25 0.25 0.25]
}

func ExampleLogSoftmax() {
	fmt.Printf("%.3f\n", nn.LogSoftmax(-1).Forward(tensor.Zeros(1, 2)).Data())
	// Output: [-0.693 -0.693]
}

// Whole channels are dropped.
func ExampleDropout2D() {
	layer := nn.Dropout2D(0.5)
	y := layer.Forward(tensor.Ones(1, 4, 2, 2)).Data()
	fmt.Println(y[0] == y[1] && y[1] == y[2] && y[2] == y[3])
	// Output: true
}

// The last layer of a model is taken away.
func ExampleIdentity() {
	type model struct{ Body, Head nn.Module }
	m := model{nn.Dense(8), nn.Dense(3)}
	m.Head = nn.Identity()
	fmt.Println(m.Head.Forward(m.Body.Forward(tensor.Ones(1, 4))).Shape())
	// Output: [1 8]
}

func ExampleBatchHardTriplet() {
	embeddings := tensor.New([]float32{0, 0, 1, 0, 0, 2, 0, 4}, 4, 2)
	people := tensor.FromInts([]int{0, 0, 1, 1}, 4)
	fmt.Printf("%.2f\n", nn.BatchHardTriplet(1)(embeddings, people).Item())
	// Output: 0.25
}

func ExampleDistillation() {
	teacher := tensor.New([]float32{4, 2, 0}, 1, 3)
	student := tensor.New([]float32{1, 1, 1}, 1, 3)
	fmt.Printf("%.2f %.2f\n", nn.Distillation(2)(student, teacher).Item(), nn.Distillation(2)(teacher, teacher).Item())
	// Output: 1.06 0.00
}
