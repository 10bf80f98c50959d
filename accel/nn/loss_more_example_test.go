package nn_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Two images of 1×2 pixels, each of one of three classes.
func ExampleCrossEntropy_pixels() {
	logits := tensor.Zeros(2, 3, 1, 2)
	classes := tensor.FromInts([]int{0, 1, 2, 2}, 2, 1, 2)
	fmt.Printf("%.4f\n", nn.CrossEntropy(logits, classes).Item()) // ln 3
	// Output: 1.0986
}

// A student learns from the probabilities of a teacher.
func ExampleCrossEntropy_distillation() {
	student := tensor.New([]float32{2, 0, 0}, 1, 3)
	teacher := tensor.New([]float32{3, 1, 0}, 1, 3)
	fmt.Printf("%.4f\n", nn.CrossEntropy(student, teacher.Softmax(-1)).Item())
	// Output: 0.5520
}

// A model predicts that the second target is less certain.
func ExampleGaussianNLL() {
	mean, target := tensor.New([]float32{1, 2}, 2, 1), tensor.New([]float32{1.5, 5}, 2, 1)
	logVariance := tensor.New([]float32{-1, 2}, 2, 1)
	fmt.Printf("%.4f\n", nn.GaussianNLL(mean, target, logVariance.Exp()).Item())
	// Output: 0.7244
}

func ExamplePoissonNLL() {
	logRates := tensor.New([]float32{0, 1, 2}, 3)
	visitors := tensor.New([]float32{1, 3, 7}, 3)
	fmt.Printf("%.4f\n", nn.PoissonNLL(logRates, visitors).Item())
	// Output: -1.9642
}

// The loss of the 0.9 quantile: a prediction that is too low costs nine times as much.
func ExampleQuantileLoss() {
	loss := nn.QuantileLoss(0.9)
	target := tensor.New([]float32{10}, 1)
	fmt.Printf("%.1f %.1f\n", loss(tensor.New([]float32{8}, 1), target).Item(), loss(tensor.New([]float32{12}, 1), target).Item())
	// Output: 1.8 0.2
}

func ExampleMarginRanking() {
	a, b := tensor.New([]float32{3, 1}, 2), tensor.New([]float32{1, 2}, 2)
	order := tensor.New([]float32{1, 1}, 2) // a should be larger in both
	fmt.Printf("%.2f\n", nn.MarginRanking(a, b, order, 0.5).Item())
	// Output: 0.75
}

// The label 1 at three positions of which each is a blank or a 1: 6 of the 8 ways have it once.
func ExampleCTC() {
	logits := tensor.Zeros(1, 3, 2)
	labels, positions, count := tensor.FromInts([]int{1}, 1, 1), tensor.FromInts([]int{3}, 1), tensor.FromInts([]int{1}, 1)
	loss := nn.CTC(logits.LogSoftmax(-1), labels, positions, count)
	fmt.Printf("%.4f\n", loss.Neg().Exp().Item())
	// Output: 0.7500
}

// The loss of a variational autoencoder with two values and a code of one value.
func ExampleGaussianKL() {
	logits, target := tensor.Zeros(1, 2), tensor.Ones(1, 2)
	mean, logVariance := tensor.Ones(1, 1), tensor.Zeros(1, 1)
	loss := nn.BCEWithLogits(logits, target).MulScalar(2).Add(nn.GaussianKL(mean, logVariance))
	fmt.Printf("%.4f\n", loss.Item()) // 2 ln 2 + 1/2
	// Output: 1.8863
}
