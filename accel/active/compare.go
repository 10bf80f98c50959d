package active

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/internal/training/trials"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
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

// Comparison is the result of [Compare]. Notebooks display it as learning curves with their spread
// over the seeds, a summary, and a table.
type Comparison struct {
	Dataset, Test string           // their names
	Seeds         int              // planned number of seeds per strategy; there are fewer if the comparison ended early
	Target        float64          // an accuracy, or for targets an error
	Strategies    []StrategyResult // in the order of the call
	// Err is why the comparison ended early, if it did.
	Err error

	displayed bool // the figure has been displayed
}

// StrategyResult holds the learning curves of one strategy, one per seed.
type StrategyResult struct {
	Name   string   // of the strategy, as its String method
	Curves []*Curve // one per seed; fewer if the comparison ended early
}

// Compare compares strategies. Each begins with the same labels of train. In each round a new
// model is trained on the labeled examples, evaluated on test, and used to select the next
// examples, whose labels are then revealed. This is repeated with several seeds. The strategies
// alternate, so that interference by other processes affects all of them. The first strategy is
// the baseline: use [Random].
//
// [Synthesize] cannot be compared, because the labels of its examples are unknown.
//
// Of data sets with classes it compares accuracies, of those with targets root mean squared errors.
//
// [OnRanks] measures the curves side by side.
//
// newModel returns an untrained model. accel.Seed is called with each seed. Errors are those of
// [Query] and of accel.Fit; the comparison so far is returned with them.
func Compare(ctx context.Context, newModel func() nn.Module, train, test *data.Dataset, strategies []Strategy, options ...Option) (*Comparison, error) {
	c := &Comparison{}
	if c.Err = interrupt.RequireContext(ctx, "active: Compare"); c.Err != nil {
		return c, c.Err
	}
	s, err := newSettings(options) // also with an error
	switch {
	case err != nil:
	case newModel == nil:
		err = errors.New("active: Compare: newModel is nil")
	case test == nil || test.Len() == 0:
		err = errors.New("active: Compare: test is nil: check the error returned where it was created")
	case len(strategies) == 0 || slices.Contains(strategies, nil):
		err = errors.New("active: Compare: no strategies, or one is nil")
	case slices.ContainsFunc(strategies, func(s Strategy) bool { _, makes := s.(synthesizer); return makes }):
		err = errors.New("active: Compare: Synthesize cannot be compared, because the labels of its examples are unknown")
	case train != nil && train.Targets() == 0 && s.target > 1:
		err = fmt.Errorf("active: Compare: Target(%v): an accuracy is between 0 and 1", s.target)
	default:
		err = NewPool(train, s.budget, 1).Err() // what is wrong with the set or the numbers
	}
	call := trials.Call{Arguments: fmt.Sprintf("%d curves of %v with %v", s.seeds, strategies, options), NewModel: newModel, Sets: []*data.Dataset{train, test}}
	if failed := trials.Same(ctx, s.group, call, err); failed != nil {
		if c.Err = failed; err == nil {
			c.Err = fmt.Errorf("active: Compare: %w", failed)
		}
		return c, c.Err
	}
	c.Dataset, c.Test, c.Seeds, c.Target = train.Name(), test.Name(), s.seeds, s.target
	for _, strategy := range strategies {
		c.Strategies = append(c.Strategies, StrategyResult{Name: strategy.String()})
	}
	s.duplicateGroups = NewPool(train, 0, 1).duplicateGroups() // computed once, outside the measured times
	rounds := 1 + (s.budget-s.initial+s.batch-1)/s.batch
	var screen *plots.Partial
	if trials.First(s.group) {
		mine := (len(strategies)*s.seeds + ranks(s.group) - 1) / ranks(s.group) // curves of this rank
		screen = plots.NewPartial(ctx, "rounds", float64(rounds*mine))
	}
	ctx = display.Unmeasured(ctx)
	defer func() { c.displayed = screen.Close(c.Figure) }()
	defer c.setTarget(s.budget)
	done := 0
	own := *c // what this process has measured, to display it
	own.Strategies = slices.Clone(c.Strategies)
	curves, err := trials.Run(ctx, s.group, s.seeds*len(strategies), func(job int) (*Curve, error) {
		seed, k := 1+job/len(strategies), job%len(strategies)
		curve := &Curve{Regression: train.Targets() > 0}
		err := s.measureCurve(ctx, newModel, train, test, strategies[k], uint64(seed), curve, func() {
			done++
			screen.Set(float64(done), fmt.Sprintf("seed %d, %v: %v", seed, strategies[k], curve), func() func() *plots.Figure { return own.soFar(k, curve) })
		})
		if err != nil {
			return nil, fmt.Errorf("%v, seed %d: %w", strategies[k], seed, err)
		}
		own.Strategies[k].Curves = append(own.Strategies[k].Curves, curve)
		return curve, nil
	})
	for job, curve := range curves {
		if curve != nil {
			k := job % len(strategies)
			c.Strategies[k].Curves = append(c.Strategies[k].Curves, curve)
		}
	}
	if err != nil {
		c.Err = fmt.Errorf("active: Compare: %w", err)
	}
	return c, c.Err
}

// ranks returns the number of ranks of a group, 1 without one.
func ranks(group *parallel.Group) int {
	if group == nil {
		return 1
	}
	return group.Size()
}

// soFar returns a function that draws the results while another curve of a strategy is being
// measured.
func (c *Comparison) soFar(strategy int, curve *Curve) func() *plots.Figure {
	now := *c
	now.Strategies = slices.Clone(c.Strategies)             // their curves are only appended to
	if l := &now.Strategies[strategy]; len(l.Curves) == 0 { // all later ones have the same length
		l.Curves = []*Curve{{Points: slices.Clone(curve.Points), Regression: curve.Regression}}
	}
	return now.Figure
}

// setTarget sets the target to the final accuracy or error of the first strategy, unless it is set.
func (c *Comparison) setTarget(budget int) {
	if c.Target == 0 && c.first() != nil {
		last, _ := c.first().At(budget)
		c.Target = c.measure().rounded(last)
	}
}

// measure evaluates a model.
func (p *Point) measure(ctx context.Context, model nn.Module, test *data.Dataset) error {
	if test.Targets() == 0 {
		result, err := accel.Evaluate(ctx, model, test)
		if err != nil {
			return err
		}
		p.Accuracy = result.Accuracy()
		return nil
	}
	result, err := accel.Evaluate(ctx, model, test, accel.Metrics(metrics.RMSE()))
	if err != nil {
		return err
	}
	p.RMSE = result.Metrics()[0].Value
	return nil
}

// measureCurve measures one curve.
func (s *settings) measureCurve(ctx context.Context, newModel func() nn.Module, train, test *data.Dataset, strategy Strategy, seed uint64, curve *Curve, after func()) (err error) {
	defer interrupt.Catch(&err) // a function of the user was interrupted
	pool := NewPool(train, s.initial, seed)
	if err := pool.Err(); err != nil {
		return err
	}
	pool.groups = s.duplicateGroups
	var point Point
	for {
		begin := time.Now()
		accel.Seed(seed<<32 + uint64(pool.Len()))
		model := newModel()
		if _, err := accel.Fit(ctx, model, pool.Labeled(), append(slices.Clone(s.training), accel.Quiet())...); err != nil {
			return err
		}
		point.Training = time.Since(begin)
		point.Labels = pool.Len()
		if err := point.measure(ctx, model, test); err != nil {
			return err
		}
		curve.Points = append(curve.Points, point)
		after()
		if pool.Len() >= s.budget {
			return nil
		}
		begin = time.Now()
		pick, err := Query(ctx, model, pool, strategy, min(s.batch, s.budget-pool.Len()))
		if err != nil {
			return err
		}
		point = Point{Querying: time.Since(begin)}
		if err := pool.Label(pick); err != nil {
			return err
		}
	}
}
