package active

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel"
)

// Option changes how [Compare] compares. It prints as it is written in Go.
type Option struct {
	text string
	set  func(*settings) error
}

// String is the option as it is written in Go, without the package.
func (o Option) String() string { return o.text }

// settings are what the options set.
type settings struct {
	initial, batch, budget, seeds int
	target                        float64 // 0 leaves it to what is measured
	training                      []accel.Option

	alike []int // the groups of the training set; see Pool.alike
}

func newSettings(options []Option) (*settings, error) {
	s := &settings{initial: 20, batch: 20, budget: 200, seeds: 5}
	s.training = []accel.Option{accel.Steps(400), accel.BatchSize(32), accel.AdamW(2e-3)}
	for _, o := range options {
		if o.set == nil {
			continue // the zero Option
		}
		if err := o.set(s); err != nil {
			return nil, err
		}
	}
	if s.budget < s.initial {
		return nil, fmt.Errorf("active: Budget(%d) is less than Initial(%d)", s.budget, s.initial)
	}
	return s, nil
}

func count(name string, n int, field func(*settings) *int) Option {
	text := fmt.Sprintf("%s(%d)", name, n)
	return Option{text, func(s *settings) error {
		if n < 1 {
			return fmt.Errorf("active: %s: the number must be at least 1", text)
		}
		*field(s) = n
		return nil
	}}
}

// Initial is the number of labels to begin with, chosen by chance; the default is
// 20. All strategies begin with the same ones.
func Initial(n int) Option { return count("Initial", n, func(s *settings) *int { return &s.initial }) }

// Batch is the number of labels of each question; the default is 20.
func Batch(n int) Option { return count("Batch", n, func(s *settings) *int { return &s.batch }) }

// Budget is the number of labels to end with; the default is 200.
func Budget(n int) Option { return count("Budget", n, func(s *settings) *int { return &s.budget }) }

// Seeds is how often each strategy is tried, with the seeds 1 to n; the default is
// 5. Few seeds decide nothing.
func Seeds(n int) Option { return count("Seeds", n, func(s *settings) *int { return &s.seeds }) }

// Target is the accuracy, from 0 to 1, for which the labels are counted. Without
// it, it is what the first strategy reaches in the end, in whole percents.
func Target(accuracy float64) Option {
	text := fmt.Sprintf("Target(%v)", accuracy)
	return Option{text, func(s *settings) error {
		if !(accuracy > 0 && accuracy <= 1) {
			return fmt.Errorf("active: %s: an accuracy is between 0 and 1", text)
		}
		s.target = accuracy
		return nil
	}}
}

// Train is how each model is trained. The default is Steps(400), BatchSize(32),
// AdamW(2e-3): the same work with few labels as with many.
func Train(options ...accel.Option) Option {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.String()
	}
	return Option{"Train(" + strings.Join(names, ", ") + ")", func(s *settings) error {
		s.training = options
		return nil
	}}
}
