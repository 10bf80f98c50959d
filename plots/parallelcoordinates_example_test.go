package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleParallelCoordinates() {
	fmt.Println(plots.ParallelCoordinates("trials", nil,
		plots.Axis{Name: "rate", Values: []float64{0.001, 0.01, 0.1}, Log: true},
		plots.Axis{Name: "loss", Values: []float64{0.9, 0.4, 0.7}}))
	// Output: trials: 3 lines
}
