package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleHeatMap() {
	correlation := [][]float64{{1, -0.3}, {-0.3, 1}}
	names := []string{"width", "length"}
	fmt.Println(plots.HeatMap("correlation", correlation, names, names))
	// Output: correlation: from −0.300 to 1.00
}
