package quantize

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/option"
)

// Option configures the quantization.
type Option struct{ setting }

type setting = option.Of[options]

type options struct {
	rangeMethod rangeMethod
	examples    int
	float       []string // names of layers that stay float
}

// defaultExamples is the number of calibration examples; more change the ranges little.
const defaultExamples = 512

func newOptions(given []Option) (*options, error) {
	o := &options{rangeMethod: minMaxRange{}, examples: defaultExamples}
	return o, option.All(o, given)
}

// MinMax uses the range from the smallest to the largest input of a layer. It is the default.
func MinMax() Option {
	return Option{option.New("MinMax()", func(o *options) error { o.rangeMethod = minMaxRange{}; return nil })}
}

// Percentile ignores outliers: with 99.9, a tenth of a percent of the values, half at each end.
// Values outside of the range are clamped, and the others get a finer scale.
func Percentile(share float64) Option {
	text := fmt.Sprintf("Percentile(%g)", share)
	return Option{option.New(text, func(o *options) error {
		if !(share > 50 && share <= 100) {
			return fmt.Errorf("quantize: %s: the percentile must be greater than 50 and at most 100", text)
		}
		o.rangeMethod = percentileRange{share / 100}
		return nil
	})}
}

// MSE uses, among a hundred increasingly narrow ranges, the one with the smallest mean squared
// error of the layer's input.
func MSE() Option {
	return Option{option.New("MSE()", func(o *options) error { o.rangeMethod = mseRange{}; return nil })}
}

// Examples sets the number of calibration examples, taken from all parts of the data set. The
// default is 512.
func Examples(n int) Option {
	return Option{option.Count("quantize", "Examples", n, 1, func(o *options) *int { return &o.examples })}
}

// Float keeps layers in float, by their names in the report, such as "0" or "blocks.1.up".
func Float(layers ...string) Option {
	return Option{option.Names("Float", layers, func(o *options) *[]string { return &o.float })}
}
