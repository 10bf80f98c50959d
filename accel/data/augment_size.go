package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// largestSide bounds the sides of the images that transforms make.
const largestSide = 1 << 15

// imageSize returns an error unless images can have a size.
func imageSize(height, width int) error {
	if height < 1 || width < 1 || height > largestSide || width > largestSide {
		return fmt.Errorf("the height and width must be from 1 to %d", largestSide)
	}
	return nil
}

// resized returns a transform of images, of shape [H, W] or [C, H, W], to height × width.
func resized(text string, height, width int, apply func(dst, x []float32, shape []int, random *rand.Rand)) Transform {
	return Transform{
		text: text,
		check: func(shape []int) error {
			if err := imageSize(height, width); err != nil {
				return err
			}
			return imageShape(shape)
		},
		resize:  func(shape []int) []int { return append(slices.Clone(shape[:len(shape)-2]), height, width) },
		applyTo: apply,
	}
}

// Resize scales images, of shape [H, W] or [C, H, W], to height × width with bilinear interpolation
// (align_corners=False) and antialiasing, like torchvision's by default: a pixel of a smaller image is a
// weighted mean of all pixels that it covers. It does not keep the aspect ratio. The examples of batches
// have the new size.
func Resize(height, width int) Transform {
	return resized(fmt.Sprintf("Resize(%d, %d)", height, width), height, width, func(dst, x []float32, shape []int, _ *rand.Rand) {
		scaleImage(dst, x, shape, height, width)
	})
}

// scaleImage scales the columns and then the rows of an image.
func scaleImage(dst, x []float32, shape []int, height, width int) {
	n := len(shape)
	rows, columns := resampling(shape[n-2], height), resampling(shape[n-1], width)
	to := 0
	eachPlane(x, shape, func(from []float32, _, stride int) {
		wide := make([]float64, len(from)/stride*width)
		for i := range wide {
			w, row := columns[i%width], from[i/width*stride:]
			for k, factor := range w.factors {
				wide[i] += factor * float64(row[w.first+k])
			}
		}
		for i := range height * width {
			sum, w := 0.0, rows[i/width]
			for k, factor := range w.factors {
				sum += factor * wide[(w.first+k)*width+i%width]
			}
			dst[to+i] = float32(sum)
		}
		to += height * width
	})
}

// window are the weights of neighboring pixels of a row or column.
type window struct {
	first   int
	factors []float64 // with a sum of 1
}

// resampling returns the window of each of the pixels to which a row or column is scaled: a triangle around
// the center of the pixel, as wide as two pixels of the smaller one of both.
func resampling(from, to int) []window {
	scale := float64(from) / float64(to)
	wide := math.Max(scale, 1)
	all := make([]window, to)
	for i := range all {
		center := scale * (float64(i) + 0.5)
		first, end := max(int(center-wide+0.5), 0), min(int(center+wide+0.5), from)
		w := window{first: first}
		sum := 0.0
		for k := first; k < end; k++ {
			factor := math.Max(1-math.Abs(float64(k)+0.5-center)/wide, 0)
			w.factors = append(w.factors, factor)
			sum += factor
		}
		for k := range w.factors {
			w.factors[k] /= sum
		}
		all[i] = w
	}
	return all
}

// CenterCrop cuts height × width pixels out of the middle of images, of shape [H, W] or [C, H, W], and
// fills the sides of smaller ones with 0, like torchvision's. The examples of batches have the new size.
func CenterCrop(height, width int) Transform {
	return resized(fmt.Sprintf("CenterCrop(%d, %d)", height, width), height, width, func(dst, x []float32, shape []int, _ *rand.Rand) {
		n := len(shape)
		top, left := cropStart(shape[n-2], height), cropStart(shape[n-1], width)
		to := 0
		eachPlane(x, shape, func(from []float32, rows, columns int) {
			for i := range height * width {
				row, column := top+i/width, left+i%width
				if dst[to+i] = 0; row >= 0 && row < rows && column >= 0 && column < columns {
					dst[to+i] = from[row*columns+column]
				}
			}
			to += height * width
		})
	})
}

// cropStart returns the first of the middle pixels of a row or column, which is negative for padding.
func cropStart(size, crop int) int {
	if crop > size {
		return -((crop - size) / 2)
	}
	return int(math.RoundToEven(float64(size-crop) / 2))
}

// Grayscale replaces the colors of images [3, H, W] by their brightness, [1, H, W], like torchvision's:
// 0.2989·R + 0.587·G + 0.114·B (ITU-R BT.601). Images with one channel, and [H, W], stay.
func Grayscale() Transform {
	return Transform{
		text: "Grayscale()",
		check: func(shape []int) error {
			if len(shape) == 3 && shape[0] != 1 && shape[0] != 3 {
				return fmt.Errorf("the image must have 1 or 3 channels")
			}
			return imageShape(shape)
		},
		resize: func(shape []int) []int {
			if !isRGB(shape) {
				return shape
			}
			return []int{1, shape[1], shape[2]}
		},
		applyTo: func(dst, x []float32, _ []int, _ *rand.Rand) {
			for i := range dst {
				dst[i] = float32(gray(x, i, len(dst)))
			}
		},
	}
}

// GaussianBlur blurs images, of shape [H, W] or [C, H, W], like torchvision's: it replaces each pixel by a
// weighted mean of size × size pixels, whose weights are a normal distribution with a standard deviation from
// low to high pixels, drawn for each image. Outside of the image are its mirrored pixels. size is odd, and
// less than twice each side of the image.
func GaussianBlur(size int, low, high float64) Transform {
	return Transform{
		text: fmt.Sprintf("GaussianBlur(%d, %g, %g)", size, low, high), random: low != high,
		check: func(shape []int) error {
			if err := imageShape(shape); err != nil {
				return err
			}
			n := len(shape)
			switch {
			case size < 1 || size%2 == 0:
				return fmt.Errorf("the size must be odd and positive")
			case !(low > 0 && low <= high && !math.IsInf(high, 1)):
				return fmt.Errorf("the deviations must be positive, and the first one not larger than the second")
			case size/2 >= min(shape[n-2], shape[n-1]):
				return fmt.Errorf("half of the size must be less than the image")
			}
			return nil
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			deviation := low
			if low != high {
				deviation = uniform(random, low, high)
			}
			blur(x, shape, size, deviation)
		},
	}
}

// blur computes the weighted mean along the columns and then along the rows.
func blur(x []float32, shape []int, size int, deviation float64) {
	half := size / 2
	weights, sum := make([]float64, size), 0.0
	for i := range weights {
		d := float64(i-half) / deviation
		weights[i] = math.Exp(-d * d / 2)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	eachPlane(x, shape, func(plane []float32, height, width int) {
		wide := make([]float64, len(plane))
		for i := range wide {
			for k, w := range weights {
				wide[i] += w * float64(plane[i/width*width+mirrored(i%width+k-half, width)])
			}
		}
		for i := range plane {
			sum := 0.0
			for k, w := range weights {
				sum += w * wide[mirrored(i/width+k-half, height)*width+i%width]
			}
			plane[i] = float32(sum)
		}
	})
}

// mirrored returns the position within 0 to n-1 of one that is less than n outside, without repeating the edge.
func mirrored(i, n int) int {
	if i < 0 {
		i = -i
	}
	if i >= n {
		i = 2*(n-1) - i
	}
	return i
}
