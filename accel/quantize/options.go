package quantize

import (
	"fmt"
	"strings"
)

// Option changes how a model is quantised.
type Option struct {
	text string
	set  func(*options) error
}

// String is the option as it is written in Go, without the package.
func (o Option) String() string { return o.text }

type options struct {
	span     span
	examples int
	float    []string // layers that stay so
}

// defaultExamples is how many examples tell the ranges: more of them change little.
const defaultExamples = 512

func newOptions(given []Option) (*options, error) {
	o := &options{span: wholeSpan{}, examples: defaultExamples}
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

// MinMax takes the range from the least to the largest number that a layer was
// given. It is the default.
func MinMax() Option {
	return Option{"MinMax()", func(o *options) error { o.span = wholeSpan{}; return nil }}
}

// Percentile leaves out as many of the least and of the largest numbers: with 99.9 a
// tenth of a percent of all, half of it at each end. What is beyond is clamped, and
// the rest has finer steps.
func Percentile(share float64) Option {
	text := fmt.Sprintf("Percentile(%g)", share)
	return Option{text, func(o *options) error {
		if !(share > 50 && share <= 100) {
			return fmt.Errorf("quantize: %s: the share must be above 50 and at most 100", text)
		}
		o.span = percentileSpan{share / 100}
		return nil
	}}
}

// MSE takes the range, among a hundred narrower and narrower ones, with the least
// mean squared error of what a layer was given.
func MSE() Option {
	return Option{"MSE()", func(o *options) error { o.span = errorSpan{}; return nil }}
}

// Examples is how many examples of the set tell the ranges, taken from all of it.
// The default is 512.
func Examples(n int) Option {
	text := fmt.Sprintf("Examples(%d)", n)
	return Option{text, func(o *options) error {
		if n < 1 {
			return fmt.Errorf("quantize: %s: at least one is needed", text)
		}
		o.examples = n
		return nil
	}}
}

// Float leaves layers as they are, by their names in the report, such as "0" or
// "blocks.1.up".
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
