package accel_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// TestMixup checks the inputs of the model and of the loss, and requires the same weights for
// any number of workers.
func TestMixup(t *testing.T) {
	train, test := digits(t)
	var seen [][]float32
	watch := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		seen = append(seen, x.Data())
		return x
	})
	set, err := data.FromTargets([][]float32{{0}, {1}}, [][]float32{{0}, {1}})
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(2)
	// The prediction is λ·x + (1-λ)·x'. With x = y its loss is λ·(1-λ)·(y-y')² for each
	// example.
	run, err := accel.Fit(t.Context(), nn.Sequential(watch, nn.Residual(nn.Dense(1), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.MulScalar(0) }))), set,
		accel.Steps(12), accel.BatchSize(2), accel.Mixup(1), accel.Quiet())
	must(t, run, err)
	mixed := 0
	for i, x := range seen {
		if x[0] == x[1] || x[0]+x[1] != 1 {
			if x[0]+x[1] < 0.999 || x[0]+x[1] > 1.001 {
				t.Errorf("the batch is %v", x)
			}
		}
		share := float64(x[0])
		if share != 0 && share != 1 {
			mixed++
		}
		if want := share * (1 - share); run.Steps[i].Loss > want+1e-6 || run.Steps[i].Loss < want-1e-6 {
			t.Errorf("the loss of %v is %v, want %v", x, run.Steps[i].Loss, want)
		}
	}
	if mixed < 2 || mixed == len(seen) {
		t.Errorf("%d of %d batches of two are mixed", mixed, len(seen))
	}
	fit := func(workers int) ([]uint32, float64) {
		accel.Seed(1)
		model := mlp(32)
		run, err := accel.Fit(t.Context(), model, train, accel.Epochs(6), accel.AdamW(3e-3), accel.Mixup(0.2), accel.Workers(workers), accel.Validate(test), accel.Quiet())
		must(t, run, err)
		return weights(model), run.Accuracy()
	}
	want, accuracy := fit(1)
	if got, _ := fit(4); !slices.Equal(got, want) {
		t.Error("four workers lead to other weights than one")
	}
	if !(accuracy > 0.85) {
		t.Errorf("accuracy %v", accuracy)
	}
	windows, err := data.Windows([]int{0, 1, 2, 3, 4, 5}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Fit(t.Context(), mlp(2), windows, accel.Mixup(1), accel.Quiet()); err == nil || !strings.Contains(err.Error(), "tokens, which cannot be mixed") {
		t.Errorf("tokens: %v", err)
	}
	if _, err := accel.Fit(t.Context(), mlp(2), train, accel.Mixup(0), accel.Quiet()); err == nil {
		t.Error("Mixup(0)")
	}
}

// TestMixingOnDevice trains with mixed batches of examples on the device, bit for bit as without.
func TestMixingOnDevice(t *testing.T) {
	train, _ := digits(t)
	train = train.First(200)
	on, err := train.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	for _, mixing := range []accel.Option{accel.Mixup(0.4), accel.CutMix(1)} {
		var losses [2]float64
		for k, set := range []*data.Dataset{train, on} {
			accel.Seed(3)
			run, err := accel.Fit(t.Context(), mlp(10), set, accel.Epochs(2), accel.BatchSize(32), mixing, accel.Quiet())
			must(t, run, err)
			losses[k] = run.Loss()
		}
		if losses[0] != losses[1] || !(losses[0] > 0) {
			t.Errorf("%v: the loss is %v, and %v on the device", mixing, losses[0], losses[1])
		}
	}
}

// TestCutMix trains on an image of zeros and one of ones, whose targets are their values. The
// share of an image's pixels that come from the other one is then its mean, or 1 minus its mean,
// from which the loss follows.
func TestCutMix(t *testing.T) {
	const side = 12
	black, white := make([]float32, side*side), slices.Repeat([]float32{1}, side*side)
	set, err := data.FromTargets([][]float32{black, white}, [][]float32{{0}, {1}})
	if err == nil {
		set, err = set.Reshape(1, side, side)
	}
	if err != nil {
		t.Fatal(err)
	}
	var means []float64
	mean := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		v := x.Data()
		requireRectangle(t, v[:side*side], side)
		m := 0.0
		for _, pixel := range v[:side*side] {
			m += float64(pixel) / (side * side)
		}
		means = append(means, m)
		return x.Reshape(2, side*side).Mean(-1).Reshape(2, 1)
	})
	accel.Seed(3)
	run, err := accel.Fit(t.Context(), nn.Sequential(mean, nn.Residual(nn.Dense(1), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.MulScalar(0) }))), set,
		accel.Steps(30), accel.BatchSize(2), accel.CutMix(1), accel.Quiet())
	must(t, run, err)
	mixed := 0
	for i, m := range means {
		if m > 0 && m < 1 {
			mixed++
		}
		// The prediction is λ·y + (1-λ)·y', as with Mixup.
		if want := m * (1 - m); math.Abs(run.Steps[i].Loss-want) > 1e-5 {
			t.Errorf("step %d: the loss of images with mean %v is %v, want %v", i+1, m, run.Steps[i].Loss, want)
		}
	}
	if mixed < 5 {
		t.Errorf("%d of %d batches are mixed", mixed, len(means))
	}
	flat, _ := digits(t)
	if flat, err = flat.Reshape(64); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string][]accel.Option{
		"have shape [64], but images":         {accel.CutMix(1)},
		"alpha must be positive":              {accel.CutMix(0)},
		"Mixup and CutMix cannot be combined": {accel.CutMix(1), accel.Mixup(1)},
	} {
		if _, err := accel.Fit(t.Context(), mlp(2), flat, append(options, accel.Quiet())...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// requireRectangle requires that the pixels of one of the two values form a rectangle.
func requireRectangle(t *testing.T, x []float32, side int) {
	t.Helper()
	for _, value := range []float32{0, 1} {
		top, left, bottom, right, n := side, side, -1, -1, 0
		for i, v := range x {
			if v == value {
				top, left, bottom, right, n = min(top, i/side), min(left, i%side), max(bottom, i/side), max(right, i%side), n+1
			}
		}
		if n == 0 || n == (bottom-top+1)*(right-left+1) {
			return
		}
	}
	t.Errorf("the pixels of the other image are no rectangle: %v", x)
}
