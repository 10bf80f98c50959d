package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleTimeline() {
	f := plots.Timeline("a step",
		plots.Lane{Name: "host", Blocks: []plots.Block{{From: 0, To: 0.002, Name: "batch", Kind: "waiting"}}},
		plots.Lane{Name: "device", Blocks: []plots.Block{{From: 0.002, To: 0.01, Name: "Linear", Kind: "forward"}}},
	)
	fmt.Println(f)
	// Output: a step: 10.0 ms
}

func ExampleAreas() {
	f := plots.Areas("memory", plots.Series{Name: "parameters", Y: []float64{2, 2}}, plots.Series{Name: "activations", Y: []float64{0, 3}})
	fmt.Println(f)
	// Output: memory: at most 5.00
}

func ExampleRoofline() {
	f := plots.Roofline("cpu", plots.RooflineData{FLOPs: 2e11, Bytes: 2e10, Points: []plots.RooflinePoint{{Name: "Linear", Intensity: 50, Speed: 1.5e11}}})
	fmt.Println(f)
	// Output: cpu: peak 200 GFLOP/s, memory 20.0 GB/s
}
