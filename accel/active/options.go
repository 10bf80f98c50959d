package active

import (
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/parallel"
)

// Option configures [Compare]. Its text is the Go expression that makes it.
type Option struct{ setting }

type setting = option.Of[settings]

// settings holds the values of the options.
type settings struct {
	initial, batch, budget, seeds int
	target                        float64 // 0: the final accuracy or error of the first strategy
	training                      []accel.Option
	group                         *parallel.Group // whose ranks measure the curves; nil for this process

	duplicateGroups []int // groups of the training set; see Pool.alike
}

func newSettings(options []Option) (*settings, error) {
	s := &settings{initial: 20, batch: 20, budget: 200, seeds: 5}
	s.training = []accel.Option{accel.Steps(400), accel.BatchSize(32), accel.AdamW(2e-3)}
	if err := option.Apply("active.Compare", s, options, "Initial", "Batch", "Budget", "Seeds", "Target", "Train", "OnRanks"); err != nil {
		return s, err
	}
	if s.budget < s.initial {
		return s, fmt.Errorf("active: Budget(%d) is less than Initial(%d)", s.budget, s.initial)
	}
	return s, nil
}

func count(name string, n int, field func(*settings) *int) Option {
	return Option{option.Count(name, n, 1, field)}
}

// Initial sets the number of initial labels, selected at random; the default is 20. All
// strategies begin with the same ones.
func Initial(n int) Option { return count("Initial", n, func(s *settings) *int { return &s.initial }) }

// Batch sets the number of labels per query; the default is 20.
func Batch(n int) Option { return count("Batch", n, func(s *settings) *int { return &s.batch }) }

// Budget sets the final number of labels; the default is 200.
func Budget(n int) Option { return count("Budget", n, func(s *settings) *int { return &s.budget }) }

// Seeds sets the number of repetitions of each strategy, with seeds 1 to n; the default is 5.
// Few seeds are not conclusive.
func Seeds(n int) Option { return count("Seeds", n, func(s *settings) *int { return &s.seeds }) }

// OnRanks measures curves side by side on the ranks of a group, each of which calls [Compare] with the same arguments. Each rank trains on
// its own device: several on one machine use its GPUs by their local ranks, unless [Train] has accel.On. All ranks get all curves, which do
// not depend on the number of ranks, and rank 0 displays them. An error on one rank ends the comparison on all.
//
// Before the first training the ranks compare their arguments, data sets and a model, for which each calls newModel once more. Ranks
// that differ get an error that names one, and the group can be used for the corrected call.
func OnRanks(group *parallel.Group) Option {
	o := option.New(func(s *settings) { s.group = group }, "OnRanks", option.Code("group"))
	if group == nil {
		o = o.Check(errors.New("the group is nil: check the error of parallel.Join"))
	}
	return Option{o}
}

// Target sets the accuracy, from 0 to 1, or for targets the root mean squared error, for which labels
// are counted. The default is the final accuracy of the first strategy in whole percent, or its final
// error.
func Target(value float64) Option {
	return Option{option.New(func(s *settings) { s.target = value }, "Target", value).
		Require(value > 0 && !math.IsInf(value, 1), "the accuracy or error must be positive and finite")}
}

// Train sets how each model is trained. The default is Steps(400), BatchSize(32), AdamW(2e-3):
// the same number of steps for few labels as for many.
func Train(options ...accel.Option) Option {
	return Option{option.New(func(s *settings) { s.training = options }, "Train", option.Each(options)...)}
}
