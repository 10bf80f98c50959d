package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleWaterfall() {
	fmt.Println(plots.Waterfall("seconds", []string{"SGD", "+ AdamW", "+ one cycle"}, []float64{8, 3, 2}))
	// Output: seconds: from 8 with “SGD” to 2 with “+ one cycle”
}
