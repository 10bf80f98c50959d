package plots_test

import (
	"context"
	"fmt"
	"image"
	"math"

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

func ExampleBar() {
	fmt.Println(plots.Bar("recall", []string{"cat", "dog", "horse"}, []float64{0.81, 0.93, 0.97}))
	// Output: recall: “horse” is highest with 0.970, “cat” lowest with 0.810
}

func ExampleConfusion() {
	counts := [][]int{
		{45, 5}, // cats: 45 called cat, 5 called dog
		{2, 48},
	}
	fmt.Println(plots.Confusion("test set", []string{"cat", "dog"}, counts))
	// Output: test set: accuracy 93.0 %, most often wrong: cat as dog
}

func ExampleDeviceUse() {
	fmt.Println(plots.DeviceUse(plots.DeviceData{
		Name:        "NVIDIA H200",
		Seconds:     []float64{0, 1, 2},
		Busy:        []float64{80, 90, 90},
		Memory:      []float64{8 << 30, 9 << 30, 9 << 30},
		MemoryTotal: 140 << 30,
	}))
	// Output: NVIDIA H200: all processes: mean utilization 85 %, peak memory 9.00 GiB
}

func ExampleHeatMap() {
	correlation := [][]float64{{1, -0.3}, {-0.3, 1}}
	names := []string{"width", "length"}
	fmt.Println(plots.HeatMap("correlation", correlation, names, names))
	// Output: correlation: from −0.300 to 1.00
}

func ExampleHist() {
	fmt.Println(plots.Hist("gradient norms", []float64{0.5, 0.7, 0.6, 2.1, 0.4}))
	// Output: gradient norms: 5 points from 0.400 to 2.10
}

func ExampleImages() {
	digit := image.NewGray(image.Rect(0, 0, 28, 28))
	fmt.Println(plots.Images([]image.Image{digit, digit}, "a zero", "another"))
	// Output: 2 images
}

func ExamplePredictions() {
	digit := image.NewGray(image.Rect(0, 0, 28, 28))
	f := plots.Predictions("digits", []image.Image{digit, digit}, []int{3, 8}, []int{3, 3}, nil)
	fmt.Println(f)
	// Output: digits: 1 of 2 right; in red: actual → guess
}

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

func ExampleNewLive() {
	live := plots.NewLive(context.Background())
	var losses []float64
	for step := range 3 {
		losses = append(losses, 1/float64(step+1))
		if live.Due() {
			now := append([]float64(nil), losses...)
			live.Update(func() *plots.Figure { return plots.Line("loss", now).Subtitle("running") })
		}
	}
	live.Update(func() *plots.Figure { return plots.Line("loss", losses).Subtitle("done") })
	live.Close()
	fmt.Println(len(losses), "steps")
}

func ExampleLRFinder() {
	rates := []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}
	losses := []float64{2.3, 2.3, 2.2, 1.4, 0.9, 1.1, 4}
	fmt.Println(plots.LRFinder(rates, losses, 0.01).Title("range test"))
	// Output: range test: steepest at 0.0100, lowest loss 0.900 at 0.100
}

func ExampleParallelCoordinates() {
	fmt.Println(plots.ParallelCoordinates("trials", nil,
		plots.Axis{Name: "rate", Values: []float64{0.001, 0.01, 0.1}, Log: true},
		plots.Axis{Name: "loss", Values: []float64{0.9, 0.4, 0.7}}))
	// Output: trials: 3 lines
}

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

func ExampleScatter() {
	width := []float64{1.4, 1.4, 4.7, 4.5}
	length := []float64{5.1, 4.9, 7.0, 6.4}
	fmt.Println(plots.Scatter("petals", width, length).XLabel("width, cm").YLabel("length, cm"))
	// Output: petals: 4 points
}

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

func ExampleWaterfall() {
	fmt.Println(plots.Waterfall("seconds", []string{"SGD", "+ AdamW", "+ one cycle"}, []float64{8, 3, 2}))
	// Output: seconds: from 8 with “SGD” to 2 with “+ one cycle”
}
