package metrics_test

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// The area below the curve is the share of pairs, of a positive and a negative example, in which the
// positive one has the higher score: here three of four.
func ExampleROC() {
	curve, err := metrics.ROC([]float64{0.9, 0.4, 0.6, 0.1}, []bool{true, true, false, false})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(curve.AUC())
	// Output: 0.75
}

func ExampleRMSE() {
	c, err := metrics.NewCollection(metrics.RMSE(), metrics.MAE(), metrics.R2())
	if err != nil {
		fmt.Println(err)
		return
	}
	err = c.Update(tensor.New([]float32{1, 2, 3, 8}, 4, 1), tensor.New([]float32{1, 2, 3, 4}, 4, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := c.Values()
	for _, v := range values {
		fmt.Println(v.Name, math.Round(v.Value*100)/100)
	}
	fmt.Println(err)
	// Output:
	// RMSE 2
	// MAE 1
	// R2 -2.2
	// <nil>
}

// Metrics of one class: two of three examples that are predicted to be of class 1 are, and all of that
// class are found.
func ExampleOfClass() {
	c, err := metrics.NewCollection(metrics.Precision(metrics.OfClass(1)), metrics.Recall(metrics.OfClass(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	c.NameClasses("cat", "dog")
	logits := tensor.New([]float32{3, 0, 0, 3, 0, 3, 0, 3}, 4, 2)
	if err := c.Update(logits, tensor.FromInts([]int{0, 0, 1, 1}, 4)); err != nil {
		fmt.Println(err)
		return
	}
	values, err := c.Values()
	for _, v := range values {
		fmt.Printf("%s %.2f\n", v.Name, v.Value)
	}
	fmt.Println(err)
	// Output:
	// precision (dog) 0.67
	// recall (dog) 1.00
	// <nil>
}
