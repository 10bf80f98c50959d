package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/quernlab/quern/accel/tensor"
)

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
	return Transform{
		text: fmt.Sprintf("NormalizeChannels(%v, %v)", mean, deviation),
		check: func(shape []int) error {
			if len(shape) < 2 || shape[0] != len(mean) || len(mean) != len(deviation) {
				return fmt.Errorf("there are %d means and %d deviations: want one for each channel", len(mean), len(deviation))
			}
			for c := range mean {
				if deviation[c] == 0 || math.IsNaN(mean[c]+deviation[c]) {
					return fmt.Errorf("the deviation of channel %d must not be 0", c)
				}
			}
			return nil
		},
		apply: func(x []float32, _ []int, _ *rand.Rand) {
			size := len(x) / len(mean)
			for i := range x {
				x[i] = float32((float64(x[i]) - mean[i/size]) / deviation[i/size])
			}
		},
		device: func(x *tensor.Tensor, shape []int, _ []*rand.Rand) *tensor.Tensor {
			var w tensorScope
			defer w.done()
			channels := []int{len(mean)}
			for range shape[1:] {
				channels = append(channels, 1)
			}
			float64s := w.keep(w.keep(x.Cast(tensor.Float64)).Sub(w.keep(tensor.FromFloat64s(mean, channels...))))
			return w.keep(float64s.Div(w.keep(tensor.FromFloat64s(deviation, channels...)))).Cast(tensor.Float32)
		},
	}
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
