package quantize

import "github.com/quernlab/quern/accel/internal/training/option"

// Option configures the quantization. [WeightOnly] takes only [Float].
type Option struct{ setting }

type setting = option.Of[options]

type options struct {
	rangeMethod rangeMethod
	examples    int
	float       []string // names of layers that stay float
}

// defaultExamples is the number of calibration examples; more change the ranges little.
const defaultExamples = 512

func newOptions(function string, given []Option, takes ...string) (*options, error) {
	o := &options{rangeMethod: minMaxRange, examples: defaultExamples}
	return o, option.Apply("quantize."+function, o, given, takes...)
}

// MinMax uses the range from the smallest to the largest input of a layer. It is the default.
func MinMax() Option {
	return Option{option.New(func(o *options) { o.rangeMethod = minMaxRange }, "MinMax")}
}

// Percentile ignores outliers: with 99.9, a tenth of a percent of the values, half at each end.
// Values outside of the range are clamped, and the others get a finer scale.
func Percentile(share float64) Option {
	return Option{option.New(func(o *options) { o.rangeMethod = percentileRange(share / 100) }, "Percentile", share).
		Require(share > 50 && share <= 100, "the percentile must be greater than 50 and at most 100")}
}

// MSE uses, among a hundred increasingly narrow ranges, the one with the smallest mean squared
// error of the layer's input.
func MSE() Option {
	return Option{option.New(func(o *options) { o.rangeMethod = mseRange }, "MSE")}
}

// Examples sets the number of calibration examples, taken from all parts of the data set. The
// default is 512.
func Examples(n int) Option {
	return Option{option.Count("Examples", n, 1, func(o *options) *int { return &o.examples })}
}

// Float keeps layers in float, by their names in the report, such as "0" or "blocks.1.up".
func Float(layers ...string) Option {
	return Option{option.New(func(o *options) { o.float = append(o.float, layers...) }, "Float", option.Each(layers)...)}
}
