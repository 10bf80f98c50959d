package metrics_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// show measures metrics of one batch.
func show(prediction, target *tensor.Tensor, all ...metrics.Metric) {
	c, err := metrics.NewCollection(all...)
	if err == nil {
		err = c.Update(prediction, target)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := c.Values()
	for _, v := range values {
		fmt.Printf("%s %.3f\n", v.Name, v.Value)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// An image of 2×2 pixels of two classes, one of which is wrong.
func ExampleJaccard() {
	logits := tensor.New([]float32{1, 1, 0, 0, 0, 0, 1, 1}, 1, 2, 2, 2)
	classes := tensor.FromInts([]int{0, 0, 0, 1}, 1, 2, 2)
	show(logits, classes, metrics.Jaccard(metrics.PerClass), metrics.Dice(metrics.Macro))
	// Output:
	// Jaccard (class 0) 0.667
	// Jaccard (class 1) 0.500
	// Dice (macro) 0.733
}

// Three of four predictions of a rare class.
func ExampleMatthewsCorrCoef() {
	logits := tensor.New([]float32{2, -1, -2, -3, 1, -1}, 6)
	target := tensor.New([]float32{1, 1, 0, 0, 0, 0}, 6)
	show(logits, target, metrics.MatthewsCorrCoef(), metrics.CohenKappa(), metrics.Specificity(), metrics.FBeta(2))
	// Output:
	// MCC 0.250
	// kappa 0.250
	// specificity 0.750
	// F2 0.500
}

func ExampleSpearman() {
	prediction := tensor.New([]float32{1, 2, 3, 4}, 4)
	target := tensor.New([]float32{1, 10, 100, 1000}, 4)
	show(prediction, target, metrics.Spearman(), metrics.Pearson(), metrics.MAPE())
	// Output:
	// Spearman 1.000
	// Pearson 0.824
	// MAPE 0.692
}

// The nearest neighbors of embeddings of two classes: the last one is among the others.
func ExampleRecallAtK() {
	embeddings := tensor.New([]float32{1, 0, 1, 0.1, 0, 1, 1, 0.05}, 4, 2)
	classes := tensor.FromInts([]int{0, 0, 1, 1}, 4)
	show(embeddings, classes, metrics.RecallAtK(1), metrics.RecallAtK(3))
	// Output:
	// recall@1 0.000
	// recall@3 1.000
}
