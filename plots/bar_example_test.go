package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleBar() {
	fmt.Println(plots.Bar("recall", []string{"cat", "dog", "horse"}, []float64{0.81, 0.93, 0.97}))
	// Output: recall: “horse” is highest with 0.970, “cat” lowest with 0.810
}
