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
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Comparison is what [Compare] measured. It shows itself: the curves with their
// spread over the seeds, the sentence that a reader wants, and a table.
type Comparison struct {
	Dataset, Test string // their names
	Seeds         int    // with which each strategy was tried
	Target        float64
	Strategies    []Learned
	// Err is why the comparison ended before all was measured.
	Err error

	drawn bool // the figure is on the page
}

// Learned are the curves of one strategy, a curve for each seed.
type Learned struct {
	Name   string
	Curves []*Curve
}

// Compare measures what strategies are worth: each begins with the same labels of
// train, and in each round a new model is trained on what is labelled, measured on
// test, and asked for the next examples, whose labels are then revealed. That is
// done with several seeds; the strategies take turns, so that what else the
// machine does falls on all of them. The first strategy is what the others are
// compared with: let it be [Random].
//
// [Synthesize] cannot be among them: nobody knows the labels of what it makes.
//
// newModel makes a model that has not been trained. accel.Seed is called with each
// seed. Errors are as those of [Query] and of accel.Fit, and come with what was
// measured so far.
func Compare(ctx context.Context, newModel func() nn.Module, train, test *data.Dataset, strategies []Strategy, options ...Option) (*Comparison, error) {
	c := &Comparison{}
	s, err := newSettings(options)
	switch {
	case err != nil:
	case newModel == nil:
		err = errors.New("active: Compare: there is no function that makes a model")
	case test == nil || test.Len() == 0:
		err = errors.New("active: Compare: there is no test set; was the error of making it read?")
	case len(strategies) == 0 || slices.Contains(strategies, nil):
		err = errors.New("active: Compare: there are no strategies, or one is nil")
	case slices.ContainsFunc(strategies, func(s Strategy) bool { _, makes := s.(maker); return makes }):
		err = errors.New("active: Compare: Synthesize makes examples whose labels nobody knows; only strategies that choose can be compared")
	default:
		err = NewPool(train, s.budget, 1).Err() // what is wrong with the set or the numbers
	}
	if err != nil {
		c.Err = err
		return c, err
	}
	c.Dataset, c.Test, c.Seeds, c.Target = train.Name(), test.Name(), s.seeds, s.target
	for _, strategy := range strategies {
		c.Strategies = append(c.Strategies, Learned{Name: strategy.String()})
	}
	s.alike = NewPool(train, 0, 1).alike() // once for all, in nobody's time
	rounds := 1 + (s.budget-s.initial+s.batch-1)/s.batch
	screen := plots.NewPartial(ctx, "rounds", float64(rounds*len(strategies)*s.seeds))
	ctx = display.Unmeasured(ctx)
	defer func() { c.drawn = screen.Close(c.Figure) }()
	defer c.aim(s.budget)
	done := 0
	for seed := 1; seed <= s.seeds; seed++ {
		for k, strategy := range strategies {
			curve := new(Curve)
			err := s.learn(ctx, newModel, train, test, strategy, uint64(seed), curve, func() {
				done++
				screen.Set(float64(done), fmt.Sprintf("seed %d, %v: %v", seed, strategy, curve), func() func() *plots.Figure { return c.soFar(k, curve) })
			})
			if err != nil {
				c.Err = fmt.Errorf("active: Compare: %v, seed %d: %w", strategy, seed, err)
				return c, c.Err
			}
			c.Strategies[k].Curves = append(c.Strategies[k].Curves, curve)
		}
	}
	return c, nil
}

// soFar gives a function that draws what is known while a further curve of a strategy is
// measured.
func (c *Comparison) soFar(strategy int, curve *Curve) func() *plots.Figure {
	now := *c
	now.Strategies = slices.Clone(c.Strategies)
	for k := range now.Strategies {
		now.Strategies[k].Curves = slices.Clone(now.Strategies[k].Curves)
	}
	if l := &now.Strategies[strategy]; len(l.Curves) == 0 { // which all later ones are as long as
		l.Curves = []*Curve{{Points: slices.Clone(curve.Points)}}
	}
	return now.Figure
}

// aim sets the target to what the first strategy reached, unless there is one.
func (c *Comparison) aim(budget int) {
	if c.Target == 0 && c.first() != nil {
		last, _ := c.first().At(budget)
		c.Target = math.Floor(100*(last+rounding)) / 100
	}
}

// learn makes one curve.
func (s *settings) learn(ctx context.Context, newModel func() nn.Module, train, test *data.Dataset, strategy Strategy, seed uint64, curve *Curve, after func()) error {
	pool := NewPool(train, s.initial, seed)
	if err := pool.Err(); err != nil {
		return err
	}
	pool.groups = s.alike
	var point Point
	for {
		begin := time.Now()
		accel.Seed(seed<<32 + uint64(pool.Len()))
		model := newModel()
		if _, err := accel.Fit(ctx, model, pool.Labelled(), append(slices.Clone(s.training), accel.Quiet())...); err != nil {
			return err
		}
		point.Training = time.Since(begin)
		result, err := accel.Evaluate(ctx, model, test)
		if err != nil {
			return err
		}
		point.Labels, point.Accuracy = pool.Len(), result.Accuracy()
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
