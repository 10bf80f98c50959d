package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// RandomRotation rotates images, of shape [H, W] or [C, H, W], about their center by up to degrees
// in each direction, with bilinear interpolation and 0 outside the image, like torchvision's.
func RandomRotation(degrees float64) Transform {
	return Transform{
		text: fmt.Sprintf("RandomRotation(%g)", degrees), random: true,
		check: func(shape []int) error {
			if !(degrees >= 0 && degrees <= 180) {
				return fmt.Errorf("the degrees must be from 0 to 180")
			}
			return imageShape(shape)
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			rotate(x, shape, uniform(random, -degrees, degrees))
		},
	}
}

// RandomResizedCrop cuts a random part out of images, of shape [H, W] or [C, H, W], and scales it
// to height × width with bilinear interpolation (without antialiasing), like torchvision's. The part
// has from 8 % to 100 % of the area, and an aspect ratio from 3/4 to 4/3. The examples of batches
// have the new size.
func RandomResizedCrop(height, width int) Transform {
	size := func(shape []int) []int {
		return append(append([]int{}, shape[:len(shape)-2]...), height, width)
	}
	return Transform{
		text: fmt.Sprintf("RandomResizedCrop(%d, %d)", height, width), random: true,
		check: func(shape []int) error {
			if height < 1 || width < 1 {
				return fmt.Errorf("the size must be positive")
			}
			return imageShape(shape)
		},
		resize: size,
		applyTo: func(dst, x []float32, shape []int, random *rand.Rand) {
			resizedCrop(dst, x, shape, randomPart(shape, random), height, width)
		},
	}
}

// uniform draws a number from low to high.
func uniform(random *rand.Rand, low, high float64) float64 {
	return low + (high-low)*random.Float64()
}

// eachPlane calls f with each channel of an image.
func eachPlane(x []float32, shape []int, f func(plane []float32, height, width int)) {
	height, width := shape[len(shape)-2], shape[len(shape)-1]
	for at := 0; at < len(x); at += height * width {
		f(x[at:at+height*width], height, width)
	}
}

// rotate rotates an image counterclockwise by an angle in degrees.
func rotate(x []float32, shape []int, degrees float64) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	eachPlane(x, shape, func(plane []float32, height, width int) {
		old := append([]float32(nil), plane...)
		pixel := func(row, column int) float64 {
			if row < 0 || row >= height || column < 0 || column >= width {
				return 0
			}
			return float64(old[row*width+column])
		}
		middleRow, middleColumn := float64(height-1)/2, float64(width-1)/2
		for row := range height {
			for column := range width {
				down, right := float64(row)-middleRow, float64(column)-middleColumn
				y, v := sin*right+cos*down+middleRow, cos*right-sin*down+middleColumn
				top, left := math.Floor(y), math.Floor(v)
				i, j, below, beside := int(top), int(left), y-top, v-left
				plane[row*width+column] = float32((1-below)*((1-beside)*pixel(i, j)+beside*pixel(i, j+1)) +
					below*((1-beside)*pixel(i+1, j)+beside*pixel(i+1, j+1)))
			}
		}
	})
}

// box is a part of an image.
type box struct{ top, left, height, width int }

// randomPart draws the part that RandomResizedCrop scales.
func randomPart(shape []int, random *rand.Rand) box {
	height, width := shape[len(shape)-2], shape[len(shape)-1]
	const low, high = 3. / 4, 4. / 3
	for range 10 {
		area := float64(height*width) * uniform(random, 0.08, 1)
		ratio := math.Exp(uniform(random, math.Log(low), math.Log(high)))
		h, w := int(math.Round(math.Sqrt(area/ratio))), int(math.Round(math.Sqrt(area*ratio)))
		if h > 0 && h <= height && w > 0 && w <= width {
			return box{random.IntN(height - h + 1), random.IntN(width - w + 1), h, w}
		}
	}
	h, w := height, width // the image is too long for such parts: its middle
	switch ratio := float64(width) / float64(height); {
	case ratio < low:
		h = max(1, int(math.Round(float64(w)/low)))
	case ratio > high:
		w = max(1, int(math.Round(float64(h)*high)))
	}
	return box{(height - h) / 2, (width - w) / 2, h, w}
}

// resizedCrop scales a part of an image.
func resizedCrop(dst, x []float32, shape []int, part box, height, width int) {
	// ends returns the two pixels, and the weight of the second one, of position i of n in a range.
	ends := func(i, n, size int) (first, second int, weight float64) {
		at := max((float64(i)+0.5)*float64(size)/float64(n)-0.5, 0)
		first = min(int(at), size-1)
		return first, min(first+1, size-1), at - float64(first)
	}
	plane := 0
	eachPlane(x, shape, func(from []float32, _, stride int) {
		pixel := func(row, column int) float64 { return float64(from[(part.top+row)*stride+part.left+column]) }
		for row := range height {
			top, bottom, below := ends(row, height, part.height)
			for column := range width {
				left, right, beside := ends(column, width, part.width)
				dst[plane+row*width+column] = float32((1-below)*((1-beside)*pixel(top, left)+beside*pixel(top, right)) +
					below*((1-beside)*pixel(bottom, left)+beside*pixel(bottom, right)))
			}
		}
		plane += height * width
	})
}
