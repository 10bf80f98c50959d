package tune

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/parallel"
)

// Option configures [Run] and [Compare]; String returns it as a Go expression.
type Option struct{ setting }

type setting = option.Of[options]

// options holds the settings of a search.
type options struct {
	method   string         // the text of the option that set chooser
	sampler  func() sampler // returns one for a trial
	halving  *halving       // nil if none
	trials   int
	budget   int // units of work; 0 means no limit
	seed     uint64
	seeds    int // of Compare
	maximize bool
	file     string // path for Resume; empty without
	quiet    bool
	group    *parallel.Group // whose ranks run the trials; nil for this process
	together int             // trials of a round; 0 for the size of the group
	follow   func(*Search)   // called after each trial and report; may be nil
}

const (
	defaultTrials = 30
	defaultSeeds  = 3
)

// newOptions returns the settings of a function that takes the options of [Run] and more.
func newOptions(function string, given []Option, more ...string) (*options, error) {
	o := &options{trials: defaultTrials, seed: 1, seeds: defaultSeeds}
	takes := append(more, "Trials", "Budget", "Seed", "Maximize", "Quiet", "Resume", "Halving", "OnRanks", "Concurrent", "Random", "Grid", "TPE", "GP")
	return o, option.Apply("tune."+function, o, append([]Option{TPE()}, given...), takes...)
}

// count returns an option that sets a number of at least 1.
func count(name string, n int, field func(*options) *int) Option {
	return Option{option.Count(name, n, 1, field)}
}

// method returns an option that selects how settings are chosen.
func method(create func() sampler, name string, arguments ...any) option.Of[options] {
	text := option.Text(name, arguments...)
	return option.New(func(o *options) { o.sampler, o.method = create, text }, name, arguments...)
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
	return Option{option.New(func(o *options) { o.seed = n }, "Seed", n)}
}

// Seeds sets how often [Compare] repeats each search, with seeds from 1 on; the default is 3.
func Seeds(n int) Option { return count("Seeds", n, func(o *options) *int { return &o.seeds }) }

// OnRanks runs trials side by side on the ranks of a group, each of which calls [Run] or [Compare] with the same arguments. Each rank
// trains on its own device: several on one machine use its GPUs by their local ranks, unless the objective passes accel.On to Fit.
// All ranks get all trials and the same search; rank 0 displays it and has the file of [Resume]. If a trial fails on
// one rank, the search ends with an error on all that names the rank. After each round of trials ([Concurrent]) the ranks wait for the slowest.
//
// The ranks compare their arguments, with the name and the line of the objective, before the first trial, and the ranges of settings after
// each round. If a range is not the same in all trials of a round, each rank calls the objective once more, up to the request of that setting:
// ranges may change from trial to trial, but not from rank to rank. What else an objective uses they cannot compare: it must train the same
// model on the same data for the same settings.
func OnRanks(group *parallel.Group) Option {
	o := option.New(func(o *options) { o.group = group }, "OnRanks", option.Code("group"))
	if group == nil {
		o = o.Check(errors.New("the group is nil: check the error of parallel.Join"))
	}
	return Option{o}
}

// Concurrent makes n trials at a time: each is selected without the results of the n-1 that may run at the same time. The default is the number of
// ranks of [OnRanks], or 1. The search is the same on any number of ranks for the same n, so n ranks or fewer can run it again.
//
// [Random] and [Grid] select the same settings for any n. [TPE] and [GP] count the settings of trials that run at the same time as
// bad or as average ones, so that they differ from each other; with n up to a tenth of the trials they find hardly worse
// settings. [Halving] compares with trials of earlier rounds.
func Concurrent(n int) Option {
	return count("Concurrent", n, func(o *options) *int { return &o.together })
}

// Maximize searches for the largest value instead of the smallest.
func Maximize() Option {
	return Option{option.New(func(o *options) { o.maximize = true }, "Maximize")}
}

// Quiet displays nothing during the search.
func Quiet() Option { return Option{option.New(func(o *options) { o.quiet = true }, "Quiet")} }

// SettingError says what is wrong with a setting that an objective requested.
type SettingError struct {
	Name   string // of the setting
	Trial  int    // number of the trial, from 1
	Reason string // such as an empty range
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("tune: setting %q of trial %d: %s", e.Name, e.Trial, e.Reason)
}

// TrialError is the error of an objective, with the settings of the trial.
type TrialError struct {
	Trial *Trial // that failed
	Err   error  // of the objective
}

func (e *TrialError) Error() string {
	if len(e.Trial.Settings) == 0 {
		return fmt.Sprintf("tune: trial %d: %v", e.Trial.Number, e.Err)
	}
	return fmt.Sprintf("tune: trial %d with %s: %v", e.Trial.Number, e.Trial.settings(), e.Err)
}

// Unwrap returns the error of the objective.
func (e *TrialError) Unwrap() error { return e.Err }
