package data

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTransformsEqualTorchvision compares with testdata/make_transforms.py, which names each case
// by the operation and its arguments.
func TestTransformsEqualTorchvision(t *testing.T) {
	var golden struct {
		Shape []int
		Image []float32
		Cases map[string]struct {
			Shape  []int
			Values []float64
		}
	}
	text, err := os.ReadFile("testdata/transforms.json")
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil || len(golden.Cases) != 54 {
		t.Fatalf("%d cases, %v", len(golden.Cases), err)
	}
	for name, want := range golden.Cases {
		x := slices.Clone(golden.Image)
		what, arguments, _ := strings.Cut(name, " ")
		var v float64
		fmt.Sscan(arguments, &v)
		switch what {
		case "rotate":
			rotate(x, golden.Shape, v)
		case "crop":
			var part box
			var height, width int
			if _, err := fmt.Sscanf(arguments, "%d %d %d %d to %d %d", &part.top, &part.left, &part.height, &part.width, &height, &width); err != nil {
				t.Fatal(err)
			}
			x = make([]float32, 3*height*width)
			resizedCrop(x, golden.Image, golden.Shape, part, height, width)
		case "brightness":
			adjustBrightness(x, v)
		case "contrast":
			adjustContrast(x, golden.Shape, v)
		case "saturation":
			adjustSaturation(x, golden.Shape, v)
		case "hue":
			adjustHue(x, golden.Shape, v)
		case "vertical":
			for seed := uint64(0); slices.Equal(x, golden.Image); seed++ {
				RandomVerticalFlip().apply(x, golden.Shape, (&loader{seed: seed}).randomFor(0))
			}
		case "gray":
			x = applied(Grayscale(), golden.Image, golden.Shape)
		case "resize", "center":
			var height, width int
			if _, err := fmt.Sscan(arguments, &height, &width); err != nil {
				t.Fatal(err)
			}
			x = applied(map[string]func(height, width int) Transform{"resize": Resize, "center": CenterCrop}[what](height, width), golden.Image, golden.Shape)
		case "blur":
			var size int
			if _, err := fmt.Sscan(arguments, &size, &v); err != nil {
				t.Fatal(err)
			}
			if err := GaussianBlur(size, v, v).check(golden.Shape); err != nil {
				t.Error(err)
			}
			GaussianBlur(size, v, v).apply(x, golden.Shape, nil)
		case "affine":
			var a [5]float64
			if _, err := fmt.Sscan(arguments, &a[0], &a[1], &a[2], &a[3], &a[4]); err != nil {
				t.Fatal(err)
			}
			warp(x, golden.Shape, inverseAffine(a[0], a[1], a[2], a[3], a[4]))
		case "normalize":
			NormalizeChannels([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}).apply(x, golden.Shape, nil)
		case "flip":
			for seed := uint64(0); slices.Equal(x, golden.Image); seed++ {
				RandomHorizontalFlip().apply(x, golden.Shape, (&loader{seed: seed}).randomFor(0))
			}
		default:
			t.Fatalf("no function for %s", name)
		}
		if len(x) != len(want.Values) {
			t.Fatalf("%s: %d values, want %d", name, len(x), len(want.Values))
		}
		for i, v := range want.Values {
			if math.Abs(float64(x[i])-v) > 2e-6 {
				t.Errorf("%s: value %d is %v, want %v", name, i, x[i], v)
				break
			}
		}
	}
}

// applied returns the result of a transform that changes the shape.
func applied(f Transform, x []float32, shape []int) []float32 {
	n, _ := volume(f.resize(shape))
	dst := make([]float32, n)
	f.applyTo(dst, x, shape, nil)
	return dst
}

// TestRandomAffineLimits requires random images within the limits: shifts of whole pixels, and nothing else.
func TestRandomAffineLimits(t *testing.T) {
	shape := []int{5, 9}
	seen := map[[2]int]bool{}
	f := RandomAffine(Affine{Translation: [2]float64{0.25, 0.4}}) // up to 2 pixels in each direction
	for seed := range uint64(300) {
		x := make([]float32, 45)
		x[2*9+4] = 1
		f.apply(x, shape, (&loader{seed: seed}).randomFor(0))
		at := slices.IndexFunc(x, func(v float32) bool { return math.Abs(float64(v)-1) < 1e-6 })
		if at < 0 {
			t.Fatalf("the pixel was smeared: %v", x)
		}
		seen[[2]int{at/9 - 2, at%9 - 4}] = true
	}
	if len(seen) != 25 {
		t.Errorf("%d different shifts: %v", len(seen), seen)
	}
	x := []float32{1, 2, 3, 4}
	RandomAffine(Affine{}).apply(x, []int{2, 2}, (&loader{}).randomFor(0))
	if !slices.Equal(x, []float32{1, 2, 3, 4}) {
		t.Errorf("the zero value changes an image to %v", x)
	}
}

// TestTransformsOfSmallImages has images of one pixel, row and column, constants, and NaN.
func TestTransformsOfSmallImages(t *testing.T) {
	nan := float32(math.NaN())
	for _, row := range []struct {
		f       Transform
		x, want []float32
		shape   []int
	}{
		{Resize(2, 3), []float32{7}, []float32{7, 7, 7, 7, 7, 7}, []int{1, 1}},
		{Resize(1, 1), []float32{1, 3, 5, 7}, []float32{4}, []int{1, 2, 2}},
		{Resize(1, 2), []float32{1, 2, 3, 4}, []float32{12. / 7, 23. / 7}, []int{1, 4}},
		{CenterCrop(1, 2), []float32{1, 2, 3, 4, 5}, []float32{3, 4}, []int{1, 5}},
		{CenterCrop(3, 2), []float32{7}, []float32{0, 0, 7, 0, 0, 0}, []int{1, 1}},
		{Grayscale(), []float32{1, 2}, []float32{1, 2}, []int{1, 1, 2}},
		{Grayscale(), []float32{1, 2}, []float32{1, 2}, []int{1, 2}},
		{Grayscale(), []float32{1, 0.5, 0.25}, []float32{0.2989 + 0.2935 + 0.0285}, []int{3, 1, 1}},
		{GaussianBlur(1, 3, 3), []float32{7}, []float32{7}, []int{1, 1}},
		{GaussianBlur(3, 1, 1), []float32{7, 7, 7, 7}, []float32{7, 7, 7, 7}, []int{2, 2}},
		{GaussianBlur(3, 1, 1), []float32{nan, 7, 7, 7}, []float32{nan, nan, nan, nan}, []int{2, 2}},
		{RandomVerticalFlip(), []float32{7, 8}, []float32{7, 8}, []int{1, 2}},
	} {
		if err := row.f.check(row.shape); err != nil {
			t.Errorf("%v of %v: %v", row.f, row.shape, err)
			continue
		}
		x := slices.Clone(row.x)
		if row.f.resize != nil {
			x = applied(row.f, row.x, row.shape)
		} else {
			row.f.apply(x, row.shape, (&loader{seed: 1}).randomFor(0))
		}
		if !slices.EqualFunc(x, row.want, func(a, b float32) bool { return a == b || math.Abs(float64(a-b)) < 1e-6 || a != a && b != b }) {
			t.Errorf("%v of %v: %v, want %v", row.f, row.x, x, row.want)
		}
	}
}

// TestRandomPart requires parts within the image, of the sizes that RandomResizedCrop promises.
func TestRandomPart(t *testing.T) {
	for _, shape := range [][]int{{3, 20, 30}, {7, 7}, {1, 100}, {1, 90, 2}, {1, 1}} {
		height, width := shape[len(shape)-2], shape[len(shape)-1]
		sizes := map[box]bool{}
		for seed := range uint64(200) {
			b := randomPart(shape, (&loader{seed: seed}).randomFor(0))
			if b.height < 1 || b.width < 1 || b.top < 0 || b.left < 0 || b.top+b.height > height || b.left+b.width > width {
				t.Fatalf("%v of %v", b, shape)
			}
			sizes[b] = true
		}
		if height == 20 && len(sizes) < 150 {
			t.Errorf("%d different parts of %v", len(sizes), shape)
		}
	}
}
