package plots_test

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/plots"
)

func ExampleROC() {
	fmt.Println(plots.ROC("spam", plots.Series{X: []float64{0, 0, 0.5, 1}, Y: []float64{0, 0.5, 1, 1}}))
	// Output: spam: AUC 0.875
}

func ExamplePrecisionRecall() {
	fmt.Println(plots.PrecisionRecall("spam", plots.Series{X: []float64{0, 0.5, 1, 1}, Y: []float64{1, 1, 0.75, 0.5}}))
	// Output: spam: average precision 0.875
}

func ExampleCalibration() {
	empty := math.NaN() // a bin without examples
	fmt.Println(plots.Calibration("test set", plots.Series{X: []float64{empty, 0.5, 0.9}, Y: []float64{empty, 0.4, 0.6}}))
	// Output: test set: largest difference 0.300
}
