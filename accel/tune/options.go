package tune

import "fmt"

// Option changes how [Run] searches. It prints as it is written in Go.
type Option struct {
	text string
	set  func(*options) error
}

// String is the option as it is written in Go, without the package.
func (o Option) String() string { return o.text }

// options is what the options set.
type options struct {
	method   string // the text of the option that set chooser
	chooser  chooser
	halving  *halving // nil for none
	trials   int
	budget   int // units of work; 0 for as many as it takes
	seed     uint64
	seeds    int // of Compare
	maximize bool
	file     string // "" for none
	quiet    bool
	follow   func(*Search) // called after each trial and report; nil for nothing
}

const (
	defaultTrials = 30
	defaultSeeds  = 3
)

func newOptions(given []Option) (*options, error) {
	o := &options{trials: defaultTrials, seed: 1, seeds: defaultSeeds}
	for _, option := range append([]Option{TPE()}, given...) {
		if option.set == nil {
			continue // the zero Option
		}
		before := o.chooser
		if err := option.set(o); err != nil {
			return nil, err
		}
		if o.chooser != before {
			o.method = option.text
		}
	}
	return o, nil
}

// count is an option that sets a number of at least 1.
func count(name string, n int, field func(*options) *int) Option {
	text := fmt.Sprintf("%s(%d)", name, n)
	return Option{text, func(o *options) error {
		if n < 1 {
			return fmt.Errorf("tune: %s: the number must be at least 1", text)
		}
		*field(o) = n
		return nil
	}}
}

// Trials is how many trials a search makes; the default is 30.
func Trials(n int) Option { return count("Trials", n, func(o *options) *int { return &o.trials }) }

// Budget ends the search after so many units of work, those of [Trial.Report], of
// all trials together: searches that stop trials early are compared on equal terms
// by it. Set [Trials] as high as it may go.
func Budget(units int) Option {
	return count("Budget", units, func(o *options) *int { return &o.budget })
}

// Seed makes another search; the default is 1.
func Seed(n uint64) Option {
	return Option{fmt.Sprintf("Seed(%d)", n), func(o *options) error { o.seed = n; return nil }}
}

// Seeds is how often [Compare] repeats each search, with the seeds from 1 on; the
// default is 3.
func Seeds(n int) Option { return count("Seeds", n, func(o *options) *int { return &o.seeds }) }

// Maximize searches for the largest value instead of the smallest.
func Maximize() Option {
	return Option{"Maximize()", func(o *options) error { o.maximize = true; return nil }}
}

// Quiet shows nothing while searching.
func Quiet() Option {
	return Option{"Quiet()", func(o *options) error { o.quiet = true; return nil }}
}
