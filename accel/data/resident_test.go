package data_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// same compares all batches of two data sets bit for bit.
func same(t *testing.T, want, got *data.Dataset, options ...data.Option) {
	t.Helper()
	a, b := want.Batches(7, options...), got.Batches(7, options...)
	for n := 0; ; n++ {
		if more := a.Next(); more != b.Next() {
			t.Fatalf("one ends at batch %d: %v, %v", n, a.Err(), b.Err())
		} else if !more {
			return
		}
		x, y := a.Batch(), b.Batch()
		if !slices.Equal(x.Index, y.Index) || !slices.Equal(x.X.Shape(), y.X.Shape()) || !slices.Equal(x.X.Raw(), y.X.Raw()) || !slices.Equal(x.Y.Data(), y.Y.Data()) || x.Y.DType() != y.Y.DType() {
			t.Fatalf("batch %d\nwant %v\ngot  %v", n, x.X, y.X)
		}
	}
}

// TestOnDevice compares batches from the device with those from the host, for every kind of data
// set, any order and every transform.
func TestOnDevice(t *testing.T) {
	digits, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	images := append([]byte{0, 0, 8, 3, 0, 0, 0, 30, 0, 0, 0, 3, 0, 0, 0, 5}, make([]byte, 450)...)
	labels := append([]byte{0, 0, 8, 1, 0, 0, 0, 30}, make([]byte, 30)...)
	for i := range 450 {
		images[16+i], labels[8+i/15] = byte(i*7), byte(i/15%4)
	}
	for name, b := range map[string][]byte{"x": images, "y": labels} {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mapped, err := data.OpenIDX(filepath.Join(folder, "x"), filepath.Join(folder, "y"))
	if err != nil {
		t.Fatal(err)
	}
	targets, err := data.FromTargets([][]float32{{1, 2}, {3, 4}, {5, 6}}, [][]float32{{1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	windows, err := data.Windows([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	gray, err := testImages(t, 20).Reshape(3, 4)
	if err != nil {
		t.Fatal(err)
	}
	colors := make([][]float32, 25)
	for i := range colors {
		for k := range 3 * 4 * 5 {
			colors[i] = append(colors[i], float32(i)+float32(k)/64)
		}
	}
	color, err := data.FromSlices(colors, make([]int, len(colors)))
	if err == nil {
		color, err = color.Reshape(3, 4, 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*data.Dataset{
		"digits": digits.First(40), "mapped": mapped, "targets": targets, "windows": windows,
		"gray": gray, "color": color, "shuffled": digits.Shuffled(4).First(33),
	} {
		t.Run(name, func(t *testing.T) {
			on, err := set.OnDevice()
			if err != nil {
				t.Fatal(err)
			}
			sets := [][2]*data.Dataset{{set, on}, {set.First(2), on.First(2)}, {set.Shuffled(3), on.Shuffled(3)}}
			if n := len(set.Shape()); n >= 2 {
				channels := set.Shape()[0]
				means, deviations := make([]float64, channels), make([]float64, channels)
				for c := range channels {
					means[c], deviations[c] = 0.1*float64(c)+0.3, 0.7+float64(c)
				}
				for _, transforms := range [][]data.Transform{
					{data.NormalizeChannels(means, deviations)},
					{data.RandomHorizontalFlip()}, {data.RandomVerticalFlip()}, {data.RandomVerticalFlip(), data.RandomHorizontalFlip()}, {data.RandomShift(2)}, {data.Cutout(2)}, {data.Cutout(1)}, {data.Cutout(9)}, {data.Normalize(0.3, 0.7)},
					{data.RandomShift(1), data.RandomHorizontalFlip(), data.Normalize(0.1, 3), data.Cutout(3)},
				} {
					a, err := set.Map(transforms...)
					if err != nil {
						t.Fatal(err)
					}
					b, err := on.Map(transforms...)
					if err != nil {
						t.Fatal(err)
					}
					c, err := a.OnDevice() // after Map
					if err != nil {
						t.Fatal(err)
					}
					sets = append(sets, [2]*data.Dataset{a, b}, [2]*data.Dataset{a, c})
				}
			}
			for _, pair := range sets {
				same(t, pair[0], pair[1])
				same(t, pair[0], pair[1], data.Shuffle(5), data.Epoch(2), data.Workers(0), data.DropLast())
				same(t, pair[0], pair[1], data.Shuffle(5), data.Workers(3), data.Skip(1))
				if i := pair[0].Len() - 1; !slices.Equal(pair[0].Example(i), pair[1].Example(i)) || pair[0].Label(i) != pair[1].Label(i) {
					t.Errorf("example %d is another", i)
				}
			}
		})
	}
}

func TestOnDeviceRefuses(t *testing.T) {
	set := testImages(t, 4)
	own := data.Lambda("own", func([]float32, []int, *rand.Rand) {})
	on, err := set.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	const want = `Lambda("own", …) of examples cannot be computed on the device`
	if _, err := on.Map(own); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if mapped, err := set.Map(own); err != nil {
		t.Error(err)
	} else if _, err := mapped.OnDevice(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	images, err := on.Reshape(3, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []data.Transform{data.RandomRotation(10), data.RandomResizedCrop(2, 2), data.ColorJitter(0.1, 0.1, 0.1, 0.1)} {
		if _, err := images.Map(f); err == nil || !strings.Contains(err.Error(), f.String()) || !strings.Contains(err.Error(), "leave out OnDevice") {
			t.Errorf("%v: %v", f, err)
		}
	}
	defer tensor.SetMemoryLimit(tensor.SetMemoryLimit(1))
	var memory *tensor.OutOfMemoryError
	if _, err := set.OnDevice(); !errors.As(err, &memory) {
		t.Errorf("no room: %v", err)
	}
}

// TestCutout counts the hidden pixels.
func TestCutout(t *testing.T) {
	set := testImages(t, 300)
	cut, err := set.Map(data.Cutout(2))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for i, x := range apply(t, cut, data.Shuffle(1)) {
		zeros := 0
		for _, v := range x {
			if v == 0 {
				zeros++
			}
		}
		_ = i
		counts[zeros]++
	}
	for n := range counts {
		if n > 5 { // four hidden pixels and the one that is 0 in the image
			t.Errorf("%d pixels are hidden", n)
		}
	}
	if counts[4] < 50 || counts[1]+counts[2] < 10 {
		t.Errorf("hidden pixels by image: %v", counts)
	}
	if _, err := set.Map(data.Cutout(0)); err == nil || !strings.Contains(err.Error(), "Cutout(0) for examples of shape [1 3 4]: the square must have at least 1 pixel") {
		t.Errorf("%v", err)
	}
}
