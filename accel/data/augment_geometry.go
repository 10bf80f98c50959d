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

// Affine are the limits of a [RandomAffine] transform. The zero value changes nothing.
type Affine struct {
	Degrees     float64    // of the rotation, in each direction, at most 180
	Translation [2]float64 // of the shift right and down, in each direction, as shares of the width and height from 0 to 1
	Scale       [2]float64 // smallest and largest factor; {0, 0} for 1
	Shear       float64    // of the angle between the sides, in degrees in each direction, below 90
}

// RandomAffine rotates, shifts, scales and shears images, of shape [H, W] or [C, H, W], about their center
// by random amounts within limits, with bilinear interpolation and 0 outside the image, like torchvision's.
// As there, the shift is a whole number of pixels, and the shear is along the rows.
func RandomAffine(limits Affine) Transform {
	scale := limits.Scale
	if scale == [2]float64{} {
		scale = [2]float64{1, 1}
	}
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	return Transform{
		text: fmt.Sprintf("RandomAffine(Affine{Degrees: %g, Translation: [2]float64{%g, %g}, Scale: [2]float64{%g, %g}, Shear: %g})",
			limits.Degrees, limits.Translation[0], limits.Translation[1], limits.Scale[0], limits.Scale[1], limits.Shear),
		random: true,
		check: func(shape []int) error {
			switch {
			case !(limits.Degrees >= 0 && limits.Degrees <= 180):
				return fmt.Errorf("the degrees must be from 0 to 180")
			case !share(limits.Translation[0]) || !share(limits.Translation[1]):
				return fmt.Errorf("the translations must be from 0 to 1")
			case !(scale[0] > 0 && scale[0] <= scale[1] && !math.IsInf(scale[1], 1)):
				return fmt.Errorf("the scales must be positive, and the first one not larger than the second")
			case !(limits.Shear >= 0 && limits.Shear < 90):
				return fmt.Errorf("the shear must be at least 0 and less than 90 degrees")
			}
			return imageShape(shape)
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			n := len(shape)
			angle := uniform(random, -limits.Degrees, limits.Degrees)
			shift := func(share float64, size int) float64 {
				return math.RoundToEven(uniform(random, -1, 1) * share * float64(size))
			}
			right, down := shift(limits.Translation[0], shape[n-1]), shift(limits.Translation[1], shape[n-2])
			factor, shear := uniform(random, scale[0], scale[1]), uniform(random, -limits.Shear, limits.Shear)
			warp(x, shape, inverseAffine(angle, right, down, factor, shear))
		},
	}
}

// inverseAffine returns where pixels come from that are sheared along the rows by an angle in degrees, rotated
// clockwise, scaled and shifted, in this order.
func inverseAffine(degrees, right, down, scale, shear float64) affine {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	slope := math.Tan(shear * math.Pi / 180)
	// The inverse of the rotation times the shear, {cos, -sin - cos·slope; sin, cos - sin·slope}, whose determinant is 1.
	a, b := (cos-sin*slope)/scale, (sin+cos*slope)/scale
	c, d := -sin/scale, cos/scale
	return affine{a, b, -a*right - b*down, c, d, -c*right - d*down}
}

// RandomResizedCrop cuts a random part out of images, of shape [H, W] or [C, H, W], and scales it
// to height × width with bilinear interpolation (without antialiasing), like torchvision's. The part
// has from 8 % to 100 % of the area, and an aspect ratio from 3/4 to 4/3. The examples of batches
// have the new size.
func RandomResizedCrop(height, width int) Transform {
	t := resized(fmt.Sprintf("RandomResizedCrop(%d, %d)", height, width), height, width, func(dst, x []float32, shape []int, random *rand.Rand) {
		resizedCrop(dst, x, shape, randomPart(shape, random), height, width)
	})
	t.random = true
	return t
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
	warp(x, shape, affine{cos, -sin, 0, sin, cos, 0})
}

// affine maps a position in the result to one in the image, both relative to their center:
// right = a[0]·right + a[1]·down + a[2], down = a[3]·right + a[4]·down + a[5].
type affine [6]float64

// warp moves each pixel of the result to where its position is in the image, with bilinear interpolation and
// 0 outside of the image.
func warp(x []float32, shape []int, a affine) {
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
				y, v := a[3]*right+a[4]*down+a[5]+middleRow, a[0]*right+a[1]*down+a[2]+middleColumn
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
