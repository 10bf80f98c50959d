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
	if err != nil || len(golden.Cases) != 28 {
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
