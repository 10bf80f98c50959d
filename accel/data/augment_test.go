package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// TestAugmentation requires that random transforms depend on the seed, the epoch and the example,
// but not on the number of workers, and that batches have the new size.
func TestAugmentation(t *testing.T) {
	images := make([][]float32, 12)
	for i := range images {
		for k := range 3 * 6 * 5 {
			images[i] = append(images[i], float32((i*7+k*13)%50)/50)
		}
	}
	set, err := data.FromSlices(images, make([]int, 12))
	if err == nil {
		set, err = set.Reshape(3, 6, 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, transform := range []data.Transform{data.RandomRotation(30), data.RandomResizedCrop(4, 8), data.RandomResizedCrop(9, 9), data.ColorJitter(0.4, 0.4, 0.4, 0.1),
		data.RandomVerticalFlip(), data.GaussianBlur(3, 0.1, 2), data.RandomAffine(data.Affine{Degrees: 20, Translation: [2]float64{0.2, 0.1}, Scale: [2]float64{0.8, 1.2}, Shear: 10}),
	} {
		mapped, err := set.Map(transform, data.RandomHorizontalFlip(), data.NormalizeChannels([]float64{0.5, 0.4, 0.3}, []float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		epoch := func(n, workers int) []float32 {
			x, _ := read(t, mapped.Batches(5, data.Shuffle(1), data.Epoch(n), data.Workers(workers)))
			return x
		}
		first := epoch(1, 0)
		size := 1
		for _, n := range mapped.Shape() {
			size *= n
		}
		if len(first) != 12*size {
			t.Errorf("%v: %d values for shape %v", transform, len(first), mapped.Shape())
		}
		if !slices.Equal(first, epoch(1, 4)) {
			t.Errorf("%v depends on the number of workers", transform)
		}
		if slices.Equal(first, epoch(2, 4)) {
			t.Errorf("%v is the same in each epoch", transform)
		}
		if _, err := mapped.Cached(1000); err == nil {
			t.Errorf("%v can be cached", transform)
		}
	}
	// Transforms without random numbers can be cached, and change the shape.
	fixed, err := set.Map(data.Resize(8, 4), data.GaussianBlur(3, 1, 1), data.CenterCrop(5, 5), data.Grayscale())
	if err != nil {
		t.Fatal(err)
	}
	cached, err := fixed.Cached(1 << 20)
	if err != nil || !slices.Equal(fixed.Shape(), []int{1, 5, 5}) {
		t.Fatalf("shape %v, %v", fixed.Shape(), err)
	}
	a, _ := read(t, fixed.Batches(5))
	if b, _ := read(t, cached.Batches(5, data.Workers(3))); len(a) != 12*25 || !slices.Equal(a, b) {
		t.Errorf("%d values, other ones from the cache", len(a))
	}
	for _, wrong := range []data.Transform{
		data.RandomRotation(-1), data.RandomResizedCrop(0, 3), data.ColorJitter(0, 0, 0, 0.6), data.ColorJitter(-1, 0, 0, 0),
		data.NormalizeChannels([]float64{1}, []float64{1}), data.NormalizeChannels([]float64{1, 1, 1}, []float64{1, 0, 1}),
		data.RandomResizedCrop(math.MaxInt, math.MaxInt), data.Resize(0, 3), data.Resize(3, -1), data.Resize(math.MaxInt, math.MaxInt), data.CenterCrop(0, 1), data.CenterCrop(1, math.MaxInt),
		data.GaussianBlur(2, 1, 1), data.GaussianBlur(-1, 1, 1), data.GaussianBlur(11, 1, 1), data.GaussianBlur(math.MaxInt, 1, 1), data.GaussianBlur(3, 0, 1), data.GaussianBlur(3, 2, 1), data.GaussianBlur(3, math.NaN(), 1),
		data.RandomAffine(data.Affine{Degrees: 181}), data.RandomAffine(data.Affine{Translation: [2]float64{0, 1.1}}), data.RandomAffine(data.Affine{Translation: [2]float64{-0.1, 0}}),
		data.RandomAffine(data.Affine{Scale: [2]float64{0, 1}}), data.RandomAffine(data.Affine{Scale: [2]float64{2, 1}}), data.RandomAffine(data.Affine{Shear: 90}), data.RandomAffine(data.Affine{Degrees: math.NaN()}),
	} {
		if _, err := set.Map(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
