package accel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/plots"
)

// LRSearch is what [FindLR] found. It shows itself: the loss over the learning
// rates.
type LRSearch struct {
	// LearningRate is the suggestion: where the loss falls fastest over the logarithm of
	// the rate.
	LearningRate  float64
	LearningRates []float64 // that were tried, one a step
	Losses        []float64 // of these steps

	drawn bool // the figure is on the page
}

// The range of rates that are tried, and how many.
const (
	lowestRate, highestRate = 1e-7, 10.
	searchSteps             = 100
)

// FindLR looks for a learning rate (Smith, Cyclical learning rates, 2017): it
// trains for a hundred steps, each with a larger rate, from 1e-7 to 10, until
// the loss is four times the lowest, and suggests the rate at which it fell
// fastest. Options are those of [Fit]; optimiser, batch size and loss matter.
// The model gets back the weights that it had; layers that had none start without weights
// with those that they got in the search.
func FindLR(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*LRSearch, error) {
	if err := touch(ctx, model, train); err != nil {
		return nil, fmt.Errorf("accel: FindLR: %w", err)
	}
	start := copyWeights(model)
	s := &LRSearch{}
	screen := plots.NewPartial(ctx, "learning rates", searchSteps)
	defer func() { s.drawn = screen.Close(s.Figure) }()
	options := append(append([]Option{}, given...), Steps(searchSteps), Quiet(), plain("FindLR", func(c *options) {
		c.alone()
		c.epochs = 0
		c.schedule, c.watches, c.absoluteRates = func(int) optim.Schedule { return risingRate{} }, false, true
		c.stop = s.risen
	}), observe(&partialSearch{screen: screen}))
	run, err := Fit(ctx, model, train, options...)
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		err = nil // which is how it may end
	}
	if restoreErr := start.restore(model); err == nil {
		err = restoreErr
	}
	for _, step := range run.Steps {
		s.LearningRates, s.Losses = append(s.LearningRates, step.LearningRate), append(s.Losses, step.Loss)
	}
	s.LearningRate = suggestion(s.LearningRates, s.Losses)
	return s, err
}

// partialSearch shows the losses so far.
type partialSearch struct {
	ownObserver
	screen *plots.Partial
}

// Step moves the bar, and draws the losses if it is time to.
func (p *partialSearch) Step(t *Training, _ Step) error {
	steps := t.Run.Steps // which only grow
	p.screen.Set(float64(len(steps)), "", func() func() *plots.Figure {
		return func() *plots.Figure {
			var rates, losses []float64
			for _, step := range steps {
				rates, losses = append(rates, step.LearningRate), append(losses, step.Loss)
			}
			return plots.LRFinder(rates, losses).RangeX(lowestRate, highestRate)
		}
	})
	return nil
}

// touch lets a model see one example, so that its layers have their parameters.
func touch(ctx context.Context, model nn.Module, train *data.Dataset) error {
	switch {
	case model == nil:
		return errors.New("the model is nil")
	case train == nil:
		return errors.New("the training set is nil: check the error returned where it was created")
	case train.Len() == 0:
		return fmt.Errorf("%s is empty", train.Name())
	}
	generator := (*tensor.Generator)(nil)
	seed, drawn := generator.State()
	defer generator.SetState(seed, drawn) // what the model draws now it draws again in training
	_, err := PredictDataset(ctx, model, train.First(1))
	return err
}

// risen ends the search when the loss is far above the lowest.
func (s *LRSearch) risen(r *Run) bool {
	lowest := math.Inf(1)
	for _, step := range r.Steps {
		lowest = min(lowest, step.Loss)
	}
	n := len(r.Steps)
	return n > 10 && r.Steps[n-1].Loss > 4*lowest
}

// suggestion returns the rate at which a centred mean of the loss falls fastest over
// the logarithm of the rate, before its lowest point; NaN where it never falls.
// It is the one that the figure marks as steepest.
func suggestion(rates, losses []float64) float64 {
	var x, y []float64 // losses that are numbers
	for i, v := range losses {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			x, y = append(x, rates[i]), append(y, v)
		}
	}
	neighbours := min(5, len(y)/16)
	smooth := make([]float64, len(y))
	lowest := 0
	for i := range y {
		around := y[max(0, i-neighbours):min(len(y), i+neighbours+1)]
		for _, v := range around {
			smooth[i] += v / float64(len(around))
		}
		if smooth[i] < smooth[lowest] {
			lowest = i
		}
	}
	reach := max(1, neighbours)
	best, fastest := math.NaN(), 0.0
	for i := reach; i <= lowest; i++ {
		if fall := (smooth[i] - smooth[i-reach]) / math.Log(x[i]/x[i-reach]); fall < fastest {
			best, fastest = x[i-reach/2], fall
		}
	}
	return best
}

// risingRate makes the rate of each step the one to be tried, in place of the
// optimiser's.
type risingRate struct{}

func (risingRate) Factor(step int) float64 {
	return lowestRate * math.Pow(highestRate/lowestRate, float64(step)/(searchSteps-1))
}
func (risingRate) String() string { return "rates to be tried" }

// Figure draws the losses over the rates.
func (s *LRSearch) Figure() *plots.Figure { return plots.LRFinder(s.LearningRates, s.Losses) }

// String returns the suggestion.
func (s *LRSearch) String() string {
	if math.IsNaN(s.LearningRate) {
		return fmt.Sprintf("no learning rate found: in %d steps the loss did not fall", len(s.LearningRates))
	}
	return fmt.Sprintf("learning rate %.2g, after %d steps from %.0e to %.2g", s.LearningRate, len(s.LearningRates), s.LearningRates[0], s.LearningRates[len(s.LearningRates)-1])
}

// MIMEBundle shows the search.
func (s *LRSearch) MIMEBundle() map[string]any {
	if s.drawn {
		return map[string]any{"text/plain": s.String()}
	}
	bundle := s.Figure().MIMEBundle()
	bundle["text/plain"] = s.String()
	return bundle
}

// MIMEMetadata returns the size of the picture.
func (s *LRSearch) MIMEMetadata() map[string]any {
	if s.drawn {
		return nil
	}
	return s.Figure().MIMEMetadata()
}
