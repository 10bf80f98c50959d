package metrics_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

func Example() {
	c, err := metrics.NewCollection(metrics.Accuracy(), metrics.F1(metrics.PerClass), metrics.TopK(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	c.NameClasses("cat", "dog", "owl")
	logits := tensor.New([]float32{
		2, 1, 0,
		0, 3, 1,
		1, 2, 0,
		0, 1, 4,
	}, 4, 3)
	if err := c.Update(logits, tensor.FromInts([]int{0, 1, 0, 2}, 4)); err != nil {
		fmt.Println(err)
		return
	}
	values, err := c.Values()
	for _, v := range values {
		fmt.Printf("%s %.2f\n", v.Name, v.Value)
	}
	fmt.Println(err)
	// Output:
	// accuracy 0.75
	// F1 (cat) 0.67
	// F1 (dog) 0.67
	// F1 (owl) 1.00
	// top-2 accuracy 1.00
	// <nil>
}
