package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleLRFinder() {
	rates := []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}
	losses := []float64{2.3, 2.3, 2.2, 1.4, 0.9, 1.1, 4}
	fmt.Println(plots.LRFinder(rates, losses, 0.01).Title("range test"))
	// Output: range test: steepest at 0.0100, lowest loss 0.900 at 0.100
}
