package plots_test

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/plots"
)

func ExampleLine() {
	losses := []float64{2.3, 1.1, 0.6, 0.4, 0.35}
	fmt.Println(plots.Line("loss", losses).XLabel("epoch"))
	// Output: loss: 5 points from 0.350 to 2.30
}

func ExampleLines() {
	f := plots.Lines("learning rate",
		plots.Series{Name: "constant", Y: []float64{1e-3, 1e-3}},
		plots.Series{Name: "cosine", Y: []float64{1e-3, 1e-3 * (1 + math.Cos(1)) / 2}},
	).LogY()
	fmt.Println(f)
	// Output: learning rate: 4 points from 7.7e−4 to 0.001
}
