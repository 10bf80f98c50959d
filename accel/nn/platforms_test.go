package nn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
)

// Tolerances between platforms: the largest difference of a tensor's elements, relative to its largest element. The order
// of the additions differs between instruction sets, and small differences grow from one training step to the next.
const (
	layerTolerance    = 3e-6 // outputs and gradients of one layer
	trainingTolerance = 3e-5 // losses and weights after twenty training steps
)

// TestPlatformsAgree compares layers, their gradients and two short trainings with the results that the assembly for amd64
// had when the file was written. `make pure-go` runs it without assembly, and `make platforms` on arm64.
func TestPlatformsAgree(t *testing.T) {
	results := map[string][]float32{}
	for name, c := range map[string]struct {
		module nn.Module
		shape  []int
	}{
		"dense":            {nn.Dense(37), []int{19, 515}},
		"conv 3x3":         {nn.Conv2D(9, 3, nn.Same()), []int{3, 5, 14, 13}},
		"conv 5x5 stride":  {nn.Conv2D(6, 5, nn.Stride(2)), []int{2, 3, 15, 15}},
		"conv depthwise":   {nn.Conv2D(6, 3, nn.Groups(6), nn.Same()), []int{2, 6, 9, 9}},
		"max pool":         {nn.MaxPool2D(2), []int{2, 3, 10, 10}},
		"batch norm":       {nn.BatchNorm(), []int{33, 17}},
		"layer norm":       {nn.LayerNorm(), []int{9, 35}},
		"causal attention": {nn.SelfAttention(2, nn.Causal()), []int{2, 11, 16}},
		"lstm":             {nn.LSTM(10), []int{3, 7, 9}},
		"gelu":             {nn.GELU(), []int{5, 41}},
		"tanh":             {nn.Tanh(), []int{5, 41}},
		"sigmoid":          {nn.Sigmoid(), []int{5, 41}},
	} {
		layer(t, results, name, c.module, c.shape)
	}
	train(t, results, "training an MLP", func(m nn.Module) *optim.Optimizer { return optim.AdamW(m, 0.01) }, []int{64, 20},
		nn.Dense(48), nn.Tanh(), nn.Dense(4))
	train(t, results, "training a CNN", func(m nn.Module) *optim.Optimizer { return optim.SGD(m, 0.05, optim.Momentum(0.9)) }, []int{32, 1, 12, 12},
		nn.Conv2D(8, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(4))

	path := filepath.Join("testdata", "platforms.json")
	if golden.Update() {
		text, err := json.MarshalIndent(results, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float32
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(results) {
		t.Errorf("%d results, but %s has %d", len(results), path, len(want))
	}
	worst := map[float64]float64{}
	for name, got := range results {
		tolerance := layerTolerance
		if strings.HasPrefix(name, "training") {
			tolerance = trainingTolerance
		}
		d := difference(got, want[name])
		worst[tolerance] = max(worst[tolerance], d)
		if !(d <= tolerance) {
			t.Errorf("%s differs by %.2g of its largest element, more than %.0e", name, d, tolerance)
		}
	}
	t.Logf("%s: differences up to %.1g for layers, %.1g for trainings", runtime.GOARCH, worst[layerTolerance], worst[trainingTolerance])
}

// difference returns the largest difference relative to the largest element of want, or NaN if there is none.
func difference(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	largest, size := 0.0, 0.0
	for i, w := range want {
		largest, size = max(largest, math.Abs(float64(got[i]-w))), max(size, math.Abs(float64(w)))
	}
	return largest / size
}

// sample returns up to 60 elements of a tensor, which the file can hold.
func sample(x *tensor.Tensor) []float32 {
	all := x.Data()
	step := (len(all) + 59) / 60
	var some []float32
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// exact are numbers that all platforms compute alike: multiples of 1/64 from -1 to 1.
type exact uint64

func (e *exact) tensor(shape ...int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		*e = *e*6364136223846793005 + 1442695040888963407
		data[i] = float32(int(*e>>40)%129-64) / 64
	}
	return tensor.New(data, shape...)
}

// fill gives the parameters of a model, which has run once, values that do not depend on the platform.
func (e *exact) fill(m nn.Module) {
	for _, p := range nn.NamedParameters(m) {
		p.SetData(e.tensor(p.Shape()...).MulScalar(0.25).Data())
	}
}

func layer(t *testing.T, results map[string][]float32, name string, m nn.Module, shape []int) {
	t.Helper()
	numbers := exact(1)
	x := numbers.tensor(shape...)
	x.SetRequiresGrad(true)
	m.Forward(x)
	numbers.fill(m)
	y := m.Forward(x)
	y.Mul(numbers.tensor(y.Shape()...)).Sum().Backward()
	results[name] = sample(y)
	results[name+", gradient of the input"] = sample(x.Grad())
	for _, p := range nn.NamedParameters(m) {
		results[name+", gradient of "+p.Name] = sample(p.Grad())
	}
}

func train(t *testing.T, results map[string][]float32, name string, optimizer func(nn.Module) *optim.Optimizer, shape []int, layers ...nn.Module) {
	t.Helper()
	numbers := exact(2)
	m := nn.Sequential(layers...)
	x := numbers.tensor(shape...)
	m.Forward(x)
	numbers.fill(m)
	classes := make([]int, shape[0])
	for i := range classes {
		classes[i] = i % 4
	}
	y := tensor.FromInts(classes, shape[0])
	o := optimizer(m)
	var losses []float32
	for range 20 {
		loss := nn.CrossEntropy(m.Forward(x), y)
		loss.Backward()
		o.Step()
		o.ZeroGrad()
		losses = append(losses, loss.Data()[0])
	}
	if losses[19] > losses[0]/2 {
		t.Errorf("%s: the loss falls from %v to %v only", name, losses[0], losses[19])
	}
	results[name+", losses"] = losses
	for _, p := range nn.NamedParameters(m) {
		results[fmt.Sprintf("%s, %s", name, p.Name)] = sample(p.Tensor)
	}
}
