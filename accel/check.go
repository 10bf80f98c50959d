package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/examine"
	"github.com/quernlab/quern/accel/internal/format"
	"github.com/quernlab/quern/accel/internal/loop"
	"github.com/quernlab/quern/accel/nn"
)

// CheckResult is what [Check] found. It displays itself as a list.
type CheckResult struct {
	Dataset string   // name of the training set
	Notes   []string // the findings, a sentence each; none if nothing was found
	// LearningRate is the suggestion of [FindLR]; NaN if it has none.
	LearningRate float64
	// Overfit has the losses of training on one batch; nil without [OverfitBatch].
	Overfit []float64

	ended bool // without an error
}

// overfitSteps is the number of updates of [OverfitBatch].
const overfitSteps = 200

// OverfitBatch makes [Check] train the model with one batch, 200 times. A model that can learn anything
// learns these few examples by heart: if its loss does not fall to a tenth, then data, model or loss are
// wrong, or the learning rate is.
func OverfitBatch() Option {
	o := plain("OverfitBatch()", func(c *loop.Settings) { c.Overfit = true })
	return o.in(inCheck)
}

// Check looks for typical mistakes before a training. Options are those of [Fit]. It makes a few updates
// and searches a learning rate ([FindLR]); the model's weights and the random numbers are restored
// afterwards. It finds, among others:
//
//   - labels: one class only, or one that is far more frequent than all others;
//   - examples far from the scale 1, images in 0…255, images with the channels last;
//   - a validation set that shares examples with the training set, or has classes that this lacks;
//   - a softmax, sigmoid or tanh before a loss that takes logits, a softmax over the batch, linear layers in a
//     row, more outputs than classes, a loss that broadcasts predictions [N, 1] and targets [N] to all pairs,
//     targets that the last activation cannot reach, parameters without a gradient;
//   - gradients that vanish or explode, and a learning rate far from the suggestion.
//
// Fit finds the same in its first steps, without the search, and at its end examines the curve of the loss,
// the units that are dead, and a validation that is far worse than the training. It adds what it found to [Run.Notes].
func Check(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*CheckResult, error) {
	r := &CheckResult{LearningRate: math.NaN()}
	if train != nil {
		r.Dataset = train.Name()
	}
	o, err := optionsIn(inFit|inCheck, given)
	if err != nil {
		return r, err
	}
	fit := slices.DeleteFunc(slices.Clone(given), func(option Option) bool { return option.scope == inCheck })
	if err := loop.Touch(ctx, model, train); err != nil {
		return r, fmt.Errorf("accel: Check: %w", err)
	}
	defer loop.KeepRandom()()
	start := loop.CopyWeights(model)
	run, err := r.train(ctx, model, train, start, fit, Steps(loop.GradientStep+1))
	if err != nil {
		return r, err
	}
	r.Notes = append(r.Notes, run.Notes...)
	if o.Validate != nil {
		r.Notes = append(r.Notes, examine.Overlap(train, o.Validate)...)
		r.Notes = append(r.Notes, examine.NewClasses(train, o.Validate)...)
	}
	if err := r.rate(ctx, model, train, o, fit); err != nil {
		return r, err
	}
	if o.Overfit {
		if err := r.overfit(ctx, model, train.Shuffled(1).First(o.BatchSize), start, fit); err != nil {
			return r, err
		}
	}
	r.ended = true
	return r, nil
}

// train makes some updates and restores the weights.
func (r *CheckResult) train(ctx context.Context, model nn.Module, train *data.Dataset, start loop.Weights, given []Option, more ...Option) (*Run, error) {
	options := append(append([]Option{}, given...), Quiet(), plain("Check", func(c *loop.Settings) {
		c.Measured = len(c.Metrics) > 0
		c.TrainOnly()
		c.Epochs, c.Steps, c.Unexamined = 0, 0, false
	}))
	run, err := Fit(ctx, model, train, append(options, more...)...)
	if restored := start.Restore(model); err == nil {
		err = restored
	}
	return run, err
}

// farRate is the factor between a learning rate and the suggestion above which it is a finding.
const farRate = 50

// rate compares the learning rate with the suggestion.
func (r *CheckResult) rate(ctx context.Context, model nn.Module, train *data.Dataset, o *loop.Settings, given []Option) error {
	found, err := FindLR(ctx, model, train, append(append([]Option{}, given...), Quiet())...)
	if err != nil {
		return err
	}
	r.LearningRate = found.LearningRate
	rate := o.Optimizer(model, o.Hyperparameters...).LearningRate()
	if o.AbsoluteRates || math.IsNaN(r.LearningRate) {
		return nil
	}
	if factor := rate / r.LearningRate; factor > farRate || factor < 1/float64(farRate) {
		r.Notes = append(r.Notes, fmt.Sprintf("the learning rate is %g, but FindLR suggests %.2g", rate, r.LearningRate))
	}
	return nil
}

// overfit trains with one batch.
func (r *CheckResult) overfit(ctx context.Context, model nn.Module, batch *data.Dataset, start loop.Weights, given []Option) error {
	run, err := r.train(ctx, model, batch, start, given, Steps(overfitSteps), NoChecks())
	var diverged *DivergedError
	if err != nil && !errors.As(err, &diverged) {
		return err
	}
	for _, s := range run.Steps {
		r.Overfit = append(r.Overfit, s.Loss)
	}
	if n := len(r.Overfit); err != nil || !(r.Overfit[n-1] < 0.1*r.Overfit[0]) {
		r.Notes = append(r.Notes, fmt.Sprintf("the model does not learn one batch of %s by heart: in %s its loss went from %s to %s; "+
			"check labels, model, loss and learning rate, or whether dropout or augmentation make that impossible", format.Plural(batch.Len(), "example"), format.Plural(n, "step"), format.Number(r.Overfit[0]), format.Number(r.Overfit[n-1])))
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
		b.WriteString(format.Plural(len(r.Notes), "finding"))
	}
	for _, n := range r.Notes {
		b.WriteString("\n- " + n)
	}
	if !math.IsNaN(r.LearningRate) {
		fmt.Fprintf(&b, "\nFindLR suggests the learning rate %.2g", r.LearningRate)
	}
	if n := len(r.Overfit); n > 0 {
		fmt.Fprintf(&b, "\nloss of one batch in %s: %s to %s", format.Plural(n, "step"), format.Number(r.Overfit[0]), format.Number(r.Overfit[n-1]))
	}
	return b.String()
}
