package search

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// LRSearch is what accel.FindLR found. It displays itself as a figure of the loss over the learning
// rates.
type LRSearch struct {
	// LearningRate is the suggestion: the rate at which the loss falls fastest over the
	// logarithm of the rate. It is NaN if the loss never falls.
	LearningRate  float64
	LearningRates []float64 // the rates that were tried, one for each step
	Losses        []float64 // the losses of these steps

	drawn bool // the figure has been displayed
}

// The range of rates that are tried, and the number of steps.
const (
	lowestRate, highestRate = 1e-7, 10.
	searchSteps             = 100
)

// FindLR searches a learning rate for a training, as accel.FindLR describes it.
func FindLR(ctx context.Context, t Training) (*LRSearch, error) {
	if err := interrupt.RequireContext(ctx, "accel: FindLR"); err != nil {
		return nil, err
	}
	if err := loop.Touch(ctx, t.Model, t.Dataset); err != nil {
		return nil, fmt.Errorf("accel: FindLR: %w", err)
	}
	defer loop.KeepRandom()()
	start := loop.CopyWeights(t.Model)
	s := &LRSearch{}
	screen := plots.NewPartial(ctx, "learning rates", searchSteps)
	defer func() { s.drawn = screen.Close(s.Figure) }()
	run, err := t.fit(ctx, t.Dataset, func(c *loop.Settings) {
		c.Steps = searchSteps
		c.Schedule, c.NeedsValidation, c.AbsoluteRates = func(int) optim.Schedule { return risingRate{} }, false, true
		c.Stop = func(r *history.Run) bool {
			steps := r.Steps // only appended to
			screen.Set(float64(len(steps)), "", func() func() *plots.Figure {
				return func() *plots.Figure {
					rates, losses := course(steps)
					return plots.LRFinder(rates, losses, suggestion(rates, losses)).RangeX(lowestRate, highestRate)
				}
			})
			return risen(steps)
		}
	})
	err = cmp.Or(unlessDiverged(err), start.Restore(t.Model)) // divergence is a normal end of the search
	s.LearningRates, s.Losses = course(run.Steps)
	s.LearningRate = suggestion(s.LearningRates, s.Losses)
	return s, err
}

// course returns the learning rates and the losses of steps.
func course(steps []history.Step) (rates, losses []float64) {
	for _, s := range steps {
		rates, losses = append(rates, s.LearningRate), append(losses, s.Loss)
	}
	return rates, losses
}

// risen reports whether the loss is far above its minimum, which ends the search. Both are those of an exponential average, since the
// losses of small batches, or of targets with outliers, differ by such a factor at any rate.
func risen(steps []history.Step) bool {
	const decay = 0.8
	lowest, smooth, weight := math.Inf(1), 0.0, 0.0
	for _, step := range steps {
		smooth, weight = decay*smooth+(1-decay)*step.Loss, decay*weight+(1-decay)
		lowest = min(lowest, smooth/weight)
	}
	return len(steps) > 10 && smooth/weight > 4*lowest
}

// suggestion returns the rate at which a centered moving average of the loss falls fastest over
// the logarithm of the rate, before its minimum; NaN if it never falls. The figure marks it.
func suggestion(rates, losses []float64) float64 {
	var x, y []float64 // finite losses
	for i, v := range losses {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			x, y = append(x, rates[i]), append(y, v)
		}
	}
	neighbors := min(5, len(y)/16)
	smooth := make([]float64, len(y))
	lowest := 0
	for i := range y {
		around := y[max(0, i-neighbors):min(len(y), i+neighbors+1)]
		for _, v := range around {
			smooth[i] += v / float64(len(around))
		}
		if smooth[i] < smooth[lowest] {
			lowest = i
		}
	}
	reach := max(1, neighbors)
	best, fastest := math.NaN(), 0.0
	for i := reach; i <= lowest; i++ {
		if fall := (smooth[i] - smooth[i-reach]) / math.Log(x[i]/x[i-reach]); fall < fastest {
			best, fastest = x[i-reach/2], fall
		}
	}
	return best
}

// risingRate is a schedule whose factors are the learning rates to try.
type risingRate struct{}

func (risingRate) Factor(step int) float64 {
	return lowestRate * math.Pow(highestRate/lowestRate, float64(step)/(searchSteps-1))
}
func (risingRate) String() string { return "rising learning rate" }

// Figure draws the losses over the rates.
func (s *LRSearch) Figure() *plots.Figure {
	return plots.LRFinder(s.LearningRates, s.Losses, s.LearningRate)
}

// String describes the suggestion.
func (s *LRSearch) String() string {
	if math.IsNaN(s.LearningRate) {
		return fmt.Sprintf("no learning rate found: in %d steps the loss did not fall: check the labels and the loss function", len(s.LearningRates))
	}
	return fmt.Sprintf("learning rate %.2g, after %d steps from %.0e to %.2g", s.LearningRate, len(s.LearningRates), s.LearningRates[0], s.LearningRates[len(s.LearningRates)-1])
}

// Report returns the figure and the suggestion.
func (s *LRSearch) Report() *display.Report {
	r := new(display.Report).Alt(s.String())
	if !s.drawn {
		r.Figure(s.Figure())
	}
	return r
}
