package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleBands() {
	f := plots.Bands("five seeds", plots.Band{
		Series: plots.Series{Name: "mean", Y: []float64{0.5, 0.7, 0.8}},
		Low:    []float64{0.4, 0.65, 0.78},
		High:   []float64{0.6, 0.75, 0.82},
	})
	fmt.Println(f)
	// Output: five seeds: 3 points from 0.400 to 0.820
}
