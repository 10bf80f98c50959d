package quantize

import (
	"fmt"
	"strings"
)

// Option configures the quantization.
type Option struct {
	text string
	set  func(*options) error
}

// String returns the option as a Go expression without the package.
func (o Option) String() string { return o.text }

type options struct {
	rangeMethod rangeMethod
	examples    int
	float       []string // names of layers that stay float
}

// defaultExamples is the number of calibration examples; more change the ranges little.
const defaultExamples = 512

func newOptions(given []Option) (*options, error) {
	o := &options{rangeMethod: minMaxRange{}, examples: defaultExamples}
	for _, option := range given {
		if option.set == nil {
			continue
		}
		if err := option.set(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// MinMax uses the range from the smallest to the largest input of a layer. It is the default.
func MinMax() Option {
	return Option{"MinMax()", func(o *options) error { o.rangeMethod = minMaxRange{}; return nil }}
}

// Percentile ignores outliers: with 99.9, a tenth of a percent of the values, half at each end.
// Values outside of the range are clamped, and the others get a finer scale.
func Percentile(share float64) Option {
	text := fmt.Sprintf("Percentile(%g)", share)
	return Option{text, func(o *options) error {
		if !(share > 50 && share <= 100) {
			return fmt.Errorf("quantize: %s: the percentile must be greater than 50 and at most 100", text)
		}
		o.rangeMethod = percentileRange{share / 100}
		return nil
	}}
}

// MSE uses, among a hundred increasingly narrow ranges, the one with the smallest mean squared
// error of the layer's input.
func MSE() Option {
	return Option{"MSE()", func(o *options) error { o.rangeMethod = mseRange{}; return nil }}
}

// Examples sets the number of calibration examples, taken from all parts of the data set. The
// default is 512.
func Examples(n int) Option {
	text := fmt.Sprintf("Examples(%d)", n)
	return Option{text, func(o *options) error {
		if n < 1 {
			return fmt.Errorf("quantize: %s: the number of examples must be at least 1", text)
		}
		o.examples = n
		return nil
	}}
}

// Float keeps layers in float, by their names in the report, such as "0" or "blocks.1.up".
func Float(layers ...string) Option {
	quoted := make([]string, len(layers))
	for i, l := range layers {
		quoted[i] = fmt.Sprintf("%q", l)
	}
	return Option{"Float(" + strings.Join(quoted, ", ") + ")", func(o *options) error {
		o.float = append(o.float, layers...)
		return nil
	}}
}
