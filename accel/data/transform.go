package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// Transform changes an example when it is put into a batch; see [Dataset.Map].
type Transform struct {
	text   string
	random bool                    // it draws random numbers
	check  func(shape []int) error // nil if any shape is valid
	// apply changes an example in place. It is nil if the shape changes.
	apply func(x []float32, shape []int, random *rand.Rand)
	// resize returns the shape of the result, and applyTo computes it, if the shape changes.
	resize  func(shape []int) []int
	applyTo func(dst, x []float32, shape []int, random *rand.Rand)
	// device is apply for a batch of [N, shape…] on the device. It draws the same random
	// numbers per example as apply. It is nil if not supported.
	device func(x *tensor.Tensor, shape []int, random []*rand.Rand) *tensor.Tensor
}

// String returns the transform as a Go expression.
func (t Transform) String() string { return t.text }

// Map returns the data set with transforms that are applied in this order to each example of a
// batch, by the workers. Their random numbers depend on the seed and the epoch of the batches
// ([Shuffle], [Epoch]) and on the example, so they differ in each epoch and do not depend on
// the number of workers. [Dataset.Example] and [Dataset.Image] do not apply transforms. Map
// fails if a transform does not fit the shape of the examples.
func (s *Dataset) Map(transforms ...Transform) (*Dataset, error) {
	t := *s
	t.transforms = append(append([]Transform{}, s.transforms...), transforms...)
	for _, f := range transforms {
		if f.apply == nil && f.applyTo == nil {
			return nil, fmt.Errorf("data: Map of %s: the zero Transform does nothing: use one that a function such as Normalize returns", s.name)
		}
		if f.resize != nil && s.positions() > 0 {
			return nil, fmt.Errorf("data: Map of %s with %v: %w", s.name, f, errPadded)
		}
	}
	if err := checkTransforms(t.transforms, s.shape); err != nil {
		return nil, err
	}
	if err := t.checkResident(); err != nil {
		return nil, err
	}
	return &t, nil
}

// Lambda returns a custom transform: apply changes the values x of an example, in row-major order of
// this shape, in place. Several goroutines call it at once; it must draw random numbers only
// from random.
func Lambda(name string, apply func(x []float32, shape []int, random *rand.Rand)) Transform {
	return Transform{text: fmt.Sprintf("Lambda(%q, …)", name), apply: apply}
}

// Normalize computes (x - mean) / deviation.
func Normalize(mean, deviation float64) Transform {
	return normalize(fmt.Sprintf("Normalize(%g, %g)", mean, deviation), []float64{mean}, []float64{deviation}, func([]int) error { return nil })
}

// normalize returns a transform that computes (x - mean) / deviation, with values for each channel or one for all.
func normalize(text string, mean, deviation []float64, fits func(shape []int) error) Transform {
	return Transform{
		text: text,
		check: func(shape []int) error {
			if err := fits(shape); err != nil {
				return err
			}
			for c := range mean {
				if deviation[c] == 0 || math.IsNaN(mean[c]+deviation[c]) {
					return fmt.Errorf("the deviation %g, of channel %d, must not be 0, and neither it nor the mean %g may be NaN", deviation[c], c, mean[c])
				}
			}
			return nil
		},
		apply: func(x []float32, _ []int, _ *rand.Rand) {
			size := len(x) / len(mean)
			for c, m := range mean {
				for i, v := range x[c*size : (c+1)*size] {
					x[c*size+i] = float32((float64(v) - m) / deviation[c])
				}
			}
		},
		device: func(x *tensor.Tensor, shape []int, _ []*rand.Rand) *tensor.Tensor {
			var w tensorScope
			defer w.done()
			channels := slices.Repeat([]int{1}, len(shape))
			channels[0] = len(mean)
			float64s := w.keep(w.keep(x.Cast(tensor.Float64)).Sub(w.keep(tensor.FromFloat64s(mean, channels...))))
			return w.keep(float64s.Div(w.keep(tensor.FromFloat64s(deviation, channels...)))).Cast(tensor.Float32)
		},
	}
}

// RandomHorizontalFlip mirrors half of the images, of shape [H, W] or [C, H, W], horizontally.
func RandomHorizontalFlip() Transform {
	return randomFlip("RandomHorizontalFlip()", 3, func(plane []float32, _, width int) {
		for row := 0; row < len(plane); row += width {
			slices.Reverse(plane[row : row+width])
		}
	})
}

// RandomVerticalFlip mirrors half of the images, of shape [H, W] or [C, H, W], vertically.
func RandomVerticalFlip() Transform {
	return randomFlip("RandomVerticalFlip()", 2, func(plane []float32, height, width int) {
		for top, bottom := 0, (height-1)*width; top < bottom; top, bottom = top+width, bottom-width {
			for column := range width {
				plane[top+column], plane[bottom+column] = plane[bottom+column], plane[top+column]
			}
		}
	})
}

// randomFlip returns a transform that mirrors half of the images along an axis of [N, C, H, W].
func randomFlip(text string, axis int, mirror func(plane []float32, height, width int)) Transform {
	return Transform{
		text: text, random: true, check: imageShape,
		apply: func(x []float32, shape []int, random *rand.Rand) {
			if random.Uint64()&1 == 1 {
				eachPlane(x, shape, mirror)
			}
		},
		device: func(x *tensor.Tensor, shape []int, random []*rand.Rand) *tensor.Tensor {
			return flipOnDevice(x, shape, random, axis)
		},
	}
}

// RandomShift shifts images, of shape [H, W] or [C, H, W], by up to pixels in each direction
// and fills the edges with 0, like a random crop of an image padded by pixels on all sides.
func RandomShift(pixels int) Transform {
	return Transform{
		text: fmt.Sprintf("RandomShift(%d)", pixels), random: true,
		check: func(shape []int) error {
			if err := imageShape(shape); err != nil {
				return err
			}
			if n := len(shape); pixels < 0 || pixels >= min(shape[n-2], shape[n-1]) {
				return fmt.Errorf("the shift must be at least 0 and less than the image")
			}
			return nil
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			down, right := random.IntN(2*pixels+1)-pixels, random.IntN(2*pixels+1)-pixels
			eachPlane(x, shape, func(plane []float32, height, width int) { shift(plane, height, width, down, right) })
		},
		device: func(x *tensor.Tensor, shape []int, random []*rand.Rand) *tensor.Tensor {
			return shiftOnDevice(x, shape, random, pixels)
		},
	}
}

// Cutout sets a square with this side in pixels to zero, at a random position in each image of
// shape [H, W] or [C, H, W] (DeVries and Taylor, arXiv:1708.04552). The center of the square
// may be anywhere in the image, so a part of the square may be outside.
func Cutout(pixels int) Transform {
	return Transform{
		text: fmt.Sprintf("Cutout(%d)", pixels), random: true,
		check: func(shape []int) error {
			if pixels < 1 {
				return fmt.Errorf("the square must have at least 1 pixel on a side")
			}
			return imageShape(shape)
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			n := len(shape)
			height, width := shape[n-2], shape[n-1]
			top, left := random.IntN(height)-pixels/2, random.IntN(width)-pixels/2
			from, to := min(max(left, 0), width), max(min(left+pixels, width), 0)
			eachPlane(x, shape, func(plane []float32, _, _ int) {
				for row := max(top, 0); row < min(top+pixels, height); row++ {
					clear(plane[row*width+from : row*width+to])
				}
			})
		},
		device: func(x *tensor.Tensor, shape []int, random []*rand.Rand) *tensor.Tensor {
			return cutoutOnDevice(x, shape, random, pixels)
		},
	}
}

// shift moves an image within its frame and fills with zeros.
func shift(x []float32, height, width, down, right int) {
	old := append([]float32{}, x...)
	clear(x)
	for row := max(0, -down); row < height-max(0, down); row++ {
		from, to := max(0, -right), width-max(0, right)
		copy(x[(row+down)*width+from+right:(row+down)*width+to+right], old[row*width+from:row*width+to])
	}
}

func imageShape(shape []int) error {
	if n := len(shape); n < 2 || n > 3 {
		return fmt.Errorf("the shape must be [H W] or [C H W]")
	}
	return nil
}

// checkTransforms returns an error if transforms do not fit examples of a shape.
func checkTransforms(transforms []Transform, shape []int) error {
	for _, t := range transforms {
		if t.check != nil {
			if err := t.check(shape); err != nil {
				return fmt.Errorf("data: %v for examples of shape %v: %w", t, shape, err)
			}
		}
		if t.resize != nil {
			shape = t.resize(shape)
		}
	}
	return nil
}

// readTransformed reads example e and applies the transforms.
func (s *Dataset) readTransformed(e int, v values, l *loader) error {
	result := v.x
	v.loader = l
	if slices.ContainsFunc(s.transforms, func(t Transform) bool { return t.resize != nil }) {
		v.x = make([]float32, s.size())
	}
	if err := s.source.read(s.at(e), v); err != nil || len(s.transforms) == 0 {
		return err
	}
	random, x, shape := l.randomFor(e), v.x, s.shape
	for _, t := range s.transforms {
		if t.resize == nil {
			t.apply(x, shape, random)
			continue
		}
		to := t.resize(shape)
		n, _ := volume(to)
		resized := make([]float32, n)
		t.applyTo(resized, x, shape, random)
		x, shape = resized, to
	}
	if &x[0] != &result[0] {
		copy(result, x)
	}
	return nil
}

// randomFor returns the random numbers for example e in this epoch.
func (l *loader) randomFor(e int) *rand.Rand {
	return rand.New(rand.NewPCG(l.seed^0x9e3779b97f4a7c15, uint64(l.epoch)<<40^uint64(e)))
}

// transformed returns the transforms as text, "" if there are none.
func (s *Dataset) transformed() string {
	names := make([]string, len(s.transforms))
	for i, t := range s.transforms {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}
