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
