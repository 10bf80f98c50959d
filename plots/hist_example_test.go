package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleHist() {
	fmt.Println(plots.Hist("gradient norms", []float64{0.5, 0.7, 0.6, 2.1, 0.4}))
	// Output: gradient norms: 5 points from 0.400 to 2.10
}
