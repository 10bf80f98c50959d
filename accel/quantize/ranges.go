package quantize

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/integer"
)

// rangeMethod returns the range that represents a layer's input, whose values are between least and most; sample is a sorted
// sample of them, not empty.
type rangeMethod func(sample []float32, least, most float32) (from, to float32)

func minMaxRange(_ []float32, least, most float32) (from, to float32) { return least, most }

func percentileRange(share float64) rangeMethod {
	return func(sample []float32, _, _ float32) (from, to float32) {
		end := (1 - share) / 2 * float64(len(sample)-1)
		return sample[int(math.Round(end))], sample[int(math.Round(float64(len(sample)-1)-end))]
	}
}

func mseRange(sample []float32, least, most float32) (from, to float32) {
	from, to = least, most
	best := math.Inf(1)
	for i := range 100 {
		part := 1 - float32(i)/100
		s := scaleOf(least*part, most*part)
		sum := 0.0
		for _, x := range sample {
			d := float64(x - s.Value(s.Quantize(x)))
			sum += d * d
		}
		if sum < best {
			best, from, to = sum, least*part, most*part
		}
	}
	return from, to
}

// scaleOf returns the scale and the zero point of a range. Zero is represented exactly, because
// padding and the output of ReLU contain many zeros.
func scaleOf(from, to float32) integer.Scale {
	from, to = min(from, 0), max(to, 0)
	step := (float64(to) - float64(from)) / 255
	if step < math.SmallestNonzeroFloat32*(1<<23) { // all values are zero
		return integer.Scale{Step: 1}
	}
	zero := math.RoundToEven(-float64(from) / step)
	return integer.Scale{Step: float32(step), Zero: uint8(min(max(zero, 0), 255))}
}

// sampleSize is the number of values kept of each layer's input.
const sampleSize = 1 << 15

// sample is a uniform random sample of a stream of values (Vitter, Random Sampling with a
// Reservoir, 1985).
type sample struct {
	least, most float32
	seen        int
	values      []float32
	state       uint64
}

func newSample() *sample {
	return &sample{least: float32(math.Inf(1)), most: float32(math.Inf(-1)), state: 0x9e3779b97f4a7c15}
}

// add adds values and returns the index of the first that is not finite, or -1.
func (s *sample) add(x []float32) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
		s.least, s.most = min(s.least, v), max(s.most, v)
		s.seen++
		if len(s.values) < sampleSize {
			s.values = append(s.values, v)
			continue
		}
		s.state ^= s.state << 13
		s.state ^= s.state >> 7
		s.state ^= s.state << 17
		if at := s.state % uint64(s.seen); at < sampleSize {
			s.values[at] = v
		}
	}
	return -1
}

// scale returns the scale of the values.
func (s *sample) scale(by rangeMethod) integer.Scale {
	slices.Sort(s.values)
	return scaleOf(by(s.values, s.least, s.most))
}
