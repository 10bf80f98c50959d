package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// ColorJitter changes brightness, contrast, saturation and hue of images with values from 0 to 1,
// of shape [3, H, W], [1, H, W] or [H, W], in a random order, like torchvision's. The first three
// are multiplied by a factor from max(0, 1-v) to 1+v, and the hue is shifted by up to v, at most
// 0.5, of the color circle. Saturation and hue do not change gray images. Map it before
// [Normalize].
func ColorJitter(brightness, contrast, saturation, hue float64) Transform {
	return Transform{
		text: fmt.Sprintf("ColorJitter(%g, %g, %g, %g)", brightness, contrast, saturation, hue), random: true,
		check: func(shape []int) error {
			if !(brightness >= 0 && contrast >= 0 && saturation >= 0) || !(hue >= 0 && hue <= 0.5) {
				return fmt.Errorf("the values must not be negative, and the hue must be at most 0.5")
			}
			if len(shape) == 3 && shape[0] != 1 && shape[0] != 3 {
				return fmt.Errorf("the image must have 1 or 3 channels")
			}
			return imageShape(shape)
		},
		apply: func(x []float32, shape []int, random *rand.Rand) {
			order := random.Perm(4)
			factor := func(v float64) float64 { return uniform(random, max(0, 1-v), 1+v) }
			b, c, s, h := factor(brightness), factor(contrast), factor(saturation), uniform(random, -hue, hue)
			for _, which := range order {
				switch {
				case which == 0 && brightness > 0:
					adjustBrightness(x, b)
				case which == 1 && contrast > 0:
					adjustContrast(x, shape, c)
				case which == 2 && saturation > 0:
					adjustSaturation(x, shape, s)
				case which == 3 && hue > 0:
					adjustHue(x, shape, h)
				}
			}
		},
	}
}

// NormalizeChannels computes (x - mean) / deviation with values for each channel of examples of
// shape [C, …], like torchvision's Normalize.
func NormalizeChannels(mean, deviation []float64) Transform {
	return normalize(fmt.Sprintf("NormalizeChannels(%v, %v)", mean, deviation), mean, deviation, func(shape []int) error {
		if len(shape) < 2 || shape[0] != len(mean) || len(mean) != len(deviation) {
			return fmt.Errorf("there are %d means and %d deviations: want one for each channel", len(mean), len(deviation))
		}
		return nil
	})
}

// blend computes factor·x + (1-factor)·other, limited to 0 … 1.
func blend(x float32, other, factor float64) float32 {
	return float32(min(max(factor*float64(x)+(1-factor)*other, 0), 1))
}

func adjustBrightness(x []float32, factor float64) {
	for i := range x {
		x[i] = blend(x[i], 0, factor)
	}
}

// adjustContrast blends an image with the mean of its brightness.
func adjustContrast(x []float32, shape []int, factor float64) {
	mean, n := 0.0, len(x)
	if isRGB(shape) {
		n /= 3
	}
	for i := range n {
		mean += gray(x, i, n) / float64(n)
	}
	for i := range x {
		x[i] = blend(x[i], mean, factor)
	}
}

// adjustSaturation blends an RGB image with its gray image.
func adjustSaturation(x []float32, shape []int, factor float64) {
	if !isRGB(shape) {
		return
	}
	n := len(x) / 3
	for i := range n {
		g := gray(x, i, n)
		for c := range 3 {
			x[c*n+i] = blend(x[c*n+i], g, factor)
		}
	}
}

func isRGB(shape []int) bool { return len(shape) == 3 && shape[0] == 3 }

// gray returns the brightness of pixel i of n (ITU-R BT.601).
func gray(x []float32, i, n int) float64 {
	if len(x) == n {
		return float64(x[i])
	}
	return 0.2989*float64(x[i]) + 0.587*float64(x[n+i]) + 0.114*float64(x[2*n+i])
}

// adjustHue shifts the hue of an RGB image by a part of the color circle.
func adjustHue(x []float32, shape []int, shift float64) {
	if !isRGB(shape) {
		return
	}
	n := len(x) / 3
	for i := range n {
		r, g, b := float64(x[i]), float64(x[n+i]), float64(x[2*n+i])
		high, low := max(r, g, b), min(r, g, b)
		chroma := high - low
		if chroma == 0 {
			continue
		}
		var h float64 // in sixths of the circle
		switch high {
		case r:
			h = (g - b) / chroma
		case g:
			h = 2 + (b-r)/chroma
		default:
			h = 4 + (r-g)/chroma
		}
		h = math.Mod(h+6*shift+12, 6)
		for c, from := range [3]float64{5, 3, 1} { // f(n) of the formula for HSV to RGB
			k := math.Mod(from+h, 6)
			x[c*n+i] = float32(min(max(high-chroma*max(0, min(k, 4-k, 1)), 0), 1))
		}
	}
}

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
