package tune

import "fmt"

// Option configures [Run]; String returns it as a Go expression.
type Option struct {
	text string
	set  func(*options) error
}

// String returns the option as a Go expression without the package.
func (o Option) String() string { return o.text }

// options holds the settings of a search.
type options struct {
	method   string // the text of the option that set chooser
	sampler  sampler
	halving  *halving // nil if none
	trials   int
	budget   int // units of work; 0 means no limit
	seed     uint64
	seeds    int // of Compare
	maximize bool
	file     string // path for Resume; empty without
	quiet    bool
	follow   func(*Search) // called after each trial and report; may be nil
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
		before := o.sampler
		if err := option.set(o); err != nil {
			return nil, err
		}
		if o.sampler != before {
			o.method = option.text
		}
	}
	return o, nil
}

// count returns an option that sets a number of at least 1.
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

// Trials sets the number of trials of a search; the default is 30.
func Trials(n int) Option { return count("Trials", n, func(o *options) *int { return &o.trials }) }

// Budget ends the search after this many units of work, as counted by [Trial.Report], over all
// trials. It allows a fair comparison with searches that stop trials early. [Trials] still
// applies: set it to an upper limit.
func Budget(units int) Option {
	return count("Budget", units, func(o *options) *int { return &o.budget })
}

// Seed sets the seed of the search; the default is 1.
func Seed(n uint64) Option {
	return Option{fmt.Sprintf("Seed(%d)", n), func(o *options) error { o.seed = n; return nil }}
}

// Seeds sets how often [Compare] repeats each search, with seeds from 1 on; the default is 3.
func Seeds(n int) Option { return count("Seeds", n, func(o *options) *int { return &o.seeds }) }

// Maximize searches for the largest value instead of the smallest.
func Maximize() Option {
	return Option{"Maximize()", func(o *options) error { o.maximize = true; return nil }}
}

// Quiet displays nothing during the search.
func Quiet() Option {
	return Option{"Quiet()", func(o *options) error { o.quiet = true; return nil }}
}
