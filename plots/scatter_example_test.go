package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleScatter() {
	width := []float64{1.4, 1.4, 4.7, 4.5}
	length := []float64{5.1, 4.9, 7.0, 6.4}
	fmt.Println(plots.Scatter("petals", width, length).XLabel("width, cm").YLabel("length, cm"))
	// Output: petals: 4 points
}
