package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleTraining() {
	f := plots.Training(plots.TrainingData{
		LossName:       "cross-entropy",
		Loss:           plots.Series{Y: []float64{2.3, 1.2, 0.8, 0.6}},
		ValidationLoss: plots.Series{X: []float64{1, 3}, Y: []float64{1.3, 0.7}},
	})
	fmt.Println(f)
	// Output: Training: best validation cross-entropy 0.700 at step 3
}

func ExampleStack() {
	run := plots.Training(plots.TrainingData{Loss: plots.Series{Y: []float64{2.3, 0.6}}})
	use := plots.DeviceUse(plots.DeviceData{Name: "NVIDIA H200", Seconds: []float64{0, 1}, Busy: []float64{90, 94}})
	fmt.Println(plots.Stack(run, use))
	// Output: Training: loss from 2.30 to 0.600; NVIDIA H200: all processes: mean utilization 90 %
}
