package nn_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func ExampleCrossEntropyLoss() {
	logits := tensor.New([]float32{2, 0, 0, 0, 0, 0, 1, 0, 3}, 3, 3)
	classes := tensor.FromInts([]int{0, -1, 2}, 3) // the second example has no class
	var loss nn.Loss = nn.CrossEntropyLoss(nn.IgnoreIndex(-1), nn.ClassWeights(1, 1, 2), nn.LabelSmoothing(0.1))
	fmt.Printf("%.4f\n", loss(logits, classes).Item())
	// Output: 0.3142
}

func ExampleNLLLoss() {
	logProbabilities := tensor.New([]float32{0.5, 0.5, 0.1, 0.9}, 2, 2).Log()
	classes := tensor.FromInts([]int{0, 1}, 2)
	fmt.Printf("%.4f\n", nn.NLL(logProbabilities, classes).Item())
	fmt.Printf("%.4f\n", nn.NLLLoss(nn.ClassWeights(3, 1))(logProbabilities, classes).Item())
	// Output:
	// 0.3993
	// 0.5462
}

func ExampleBCEWithLogits() {
	logits := tensor.New([]float32{3, -1, 0, 2}, 2, 2)
	labels := tensor.New([]float32{1, 0, 0, 1}, 2, 2) // two labels for each example
	fmt.Printf("%.4f\n", nn.BCEWithLogits(logits, labels).Item())
	// Output: 0.2955
}

func ExampleBCEWithLogitsLoss() {
	logits := tensor.New([]float32{3, -1, 0, 2}, 4, 1)
	labels := tensor.New([]float32{1, 0, 0, 1}, 4, 1)
	loss := nn.BCEWithLogitsLoss(4) // positive examples are four times as rare
	fmt.Printf("%.4f\n", loss(logits, labels).Item())
	// Output: 0.4271
}

func ExampleFocalLoss() {
	logits := tensor.New([]float32{3, -1, 0, 2}, 4, 1)
	labels := tensor.New([]float32{1, 0, 0, 1}, 4, 1)
	fmt.Printf("%.4f\n", nn.FocalLoss(2, 0.25)(logits, labels).Item())
	// Output: 0.0369
}

func ExampleHuberLoss() {
	prediction, target := tensor.New([]float32{1, 2, 30}, 3), tensor.New([]float32{1, 1, 0}, 3)
	fmt.Printf("MSE %.2f, L1 %.2f, Huber %.2f, smooth L1 %.2f\n",
		nn.MSE(prediction, target).Item(), nn.L1(prediction, target).Item(),
		nn.HuberLoss(2)(prediction, target).Item(), nn.SmoothL1Loss(2)(prediction, target).Item())
	// Output: MSE 300.33, L1 10.33, Huber 19.50, smooth L1 9.75
}

func ExampleKLDiv() {
	logits := tensor.New([]float32{2, 0, 0}, 1, 3)
	teacher := tensor.New([]float32{0.7, 0.3, 0}, 1, 3)
	fmt.Printf("%.4f\n", nn.KLDiv(logits.LogSoftmax(-1), teacher).Item())
	// Output: 0.2287
}

func ExampleTripletMargin() {
	anchor, positive, negative := tensor.New([]float32{0, 0}, 1, 2), tensor.New([]float32{1, 0}, 1, 2), tensor.New([]float32{0, 1.5}, 1, 2)
	fmt.Printf("%.2f\n", nn.TripletMargin(anchor, positive, negative, 1).Item())
	// Output: 0.50
}

func ExampleCosineEmbedding() {
	a, b := tensor.New([]float32{1, 0, 1, 0}, 2, 2), tensor.New([]float32{1, 1, 1, 1}, 2, 2)
	same := tensor.New([]float32{1, -1}, 2)
	fmt.Printf("%.4f\n", nn.CosineEmbedding(a, b, same, 0).Item())
	// Output: 0.5000
}
