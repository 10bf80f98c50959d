package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/examine"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/internal/quantity"
)

// CheckResult is what accel.Check found. It displays itself as a list.
type CheckResult struct {
	Dataset string   // name of the training set
	Notes   []string // the findings, a sentence each; none if nothing was found
	// LearningRate is the suggestion of accel.FindLR; NaN if it has none.
	LearningRate float64
	// Overfit has the losses of training on one batch; nil without accel.OverfitBatch.
	Overfit []float64

	ended bool // without an error
}

// overfitSteps is the number of updates of accel.OverfitBatch.
const overfitSteps = 200

// Check looks for typical mistakes before a training, as accel.Check describes it.
func Check(ctx context.Context, t Training) (*CheckResult, error) {
	r := &CheckResult{LearningRate: math.NaN()}
	if err := interrupt.RequireContext(ctx, "accel: Check"); err != nil {
		return r, err
	}
	if t.Dataset != nil {
		r.Dataset = t.Dataset.Name()
	}
	o, err := t.Settings(nil)
	if err != nil {
		return r, err
	}
	if err := loop.Touch(ctx, t.Model, t.Dataset); err != nil {
		return r, fmt.Errorf("accel: Check: %w", err)
	}
	defer loop.KeepRandom()()
	start := loop.CopyWeights(t.Model)
	run, err := r.train(ctx, t, t.Dataset, start, func(c *loop.Settings) { c.Steps = loop.GradientStep + 1 })
	if err != nil {
		return r, err
	}
	r.Notes = append(r.Notes, run.Notes...)
	if o.Validate != nil {
		r.Notes = append(r.Notes, examine.Overlap(t.Dataset, o.Validate)...)
		r.Notes = append(r.Notes, examine.NewClasses(t.Dataset, o.Validate)...)
	}
	if err := r.rate(ctx, t, o); err != nil {
		return r, err
	}
	if o.Overfit {
		if err := r.overfit(ctx, t, t.Dataset.Shuffled(1).First(o.BatchSize), start); err != nil {
			return r, err
		}
	}
	r.ended = true
	return r, nil
}

// train makes some updates, which are examined, and restores the weights.
func (r *CheckResult) train(ctx context.Context, t Training, set *data.Dataset, start loop.Weights, change func(*loop.Settings)) (*history.Run, error) {
	run, err := t.fit(ctx, set, func(c *loop.Settings) {
		c.Unexamined = false
		change(c)
	})
	return run, cmp.Or(err, start.Restore(t.Model))
}

// farRate is the factor between a learning rate and the suggestion above which it is a finding.
const farRate = 50

// rate compares the learning rate with the suggestion.
func (r *CheckResult) rate(ctx context.Context, t Training, o *loop.Settings) error {
	found, err := FindLR(ctx, t)
	if err != nil {
		return err
	}
	r.LearningRate = found.LearningRate
	rate := o.Optimizer(t.Model, o.Hyperparameters...).LearningRate()
	if o.AbsoluteRates || math.IsNaN(r.LearningRate) {
		return nil
	}
	if factor := rate / r.LearningRate; factor > farRate || factor < 1/float64(farRate) {
		r.Notes = append(r.Notes, fmt.Sprintf("the learning rate is %g, but FindLR suggests %.2g", rate, r.LearningRate))
	}
	return nil
}

// overfit trains with one batch.
func (r *CheckResult) overfit(ctx context.Context, t Training, batch *data.Dataset, start loop.Weights) error {
	run, err := r.train(ctx, t, batch, start, func(c *loop.Settings) { c.Steps, c.Unexamined = overfitSteps, true })
	if err := unlessDiverged(err); err != nil {
		return err
	}
	for _, s := range run.Steps {
		r.Overfit = append(r.Overfit, s.Loss)
	}
	if n := len(r.Overfit); err != nil || !(r.Overfit[n-1] <= 0.1*r.Overfit[0]) {
		r.Notes = append(r.Notes, fmt.Sprintf("the model does not learn one batch of %s by heart: in %s its loss went from %s to %s; "+
			"check labels, model, loss and learning rate, or whether dropout or augmentation make that impossible", quantity.Plural(batch.Len(), "example"), quantity.Plural(n, "step"), quantity.Number(r.Overfit[0]), quantity.Number(r.Overfit[n-1])))
	}
	return nil
}

// String lists the findings.
func (r *CheckResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.Dataset)
	switch {
	case !r.ended:
		b.WriteString("the check did not finish")
	case len(r.Notes) == 0:
		b.WriteString("no typical mistakes found")
	default:
		b.WriteString(quantity.Plural(len(r.Notes), "finding"))
	}
	for _, n := range r.Notes {
		b.WriteString("\n- " + n)
	}
	if !math.IsNaN(r.LearningRate) {
		fmt.Fprintf(&b, "\nFindLR suggests the learning rate %.2g", r.LearningRate)
	}
	if n := len(r.Overfit); n > 0 {
		fmt.Fprintf(&b, "\nloss of one batch in %s: %s to %s", quantity.Plural(n, "step"), quantity.Number(r.Overfit[0]), quantity.Number(r.Overfit[n-1]))
	}
	return b.String()
}
