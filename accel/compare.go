package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Variant is one way to train, to be compared with others by [Compare].
// [NewVariant] makes it.
type Variant struct {
	Name    string
	options []Option
}

// NewVariant names a way to train: options of [Fit].
func NewVariant(name string, options ...Option) Variant { return Variant{name, options} }

// compareSeeds are the seeds of the runs of each variant.
const compareSeeds = 3

// Comparison is what [Compare] measured. It shows itself: a table of means and
// standard deviations over the seeds, and in a figure the losses.
type Comparison struct {
	Dataset  string
	Seeds    int
	Variants []VariantResult
	// Err is why the comparison ended before all was measured.
	Err error

	drawn bool // the figure is on the page
}

// VariantResult are the runs of one variant, a run for each seed.
type VariantResult struct {
	Name string
	Runs []*Run
}

// Compare trains a new model by each variant, with the seeds 1, 2 and 3, and
// gives means and standard deviations of what came of it. newModel makes a model
// that has not been trained. The variants take turns, so that what else the
// machine does in the meantime falls on all of them. Seed is called with each
// seed, and again with the last when all is done. Errors are as those of [Fit]
// and come with what was measured so far.
func Compare(ctx context.Context, newModel func() nn.Module, train *data.Dataset, variants ...Variant) (*Comparison, error) {
	c := &Comparison{Seeds: compareSeeds}
	switch {
	case newModel == nil:
		c.Err = errors.New("accel: Compare: there is no function that makes a model")
	case train == nil:
		c.Err = errors.New("accel: Compare: the training set is nil: check the error returned where it was created")
	case len(variants) == 0:
		c.Err = errors.New("accel: Compare: there are no variants; accel.NewVariant makes one")
	}
	if c.Err != nil {
		return c, c.Err
	}
	c.Dataset = train.Name()
	for _, v := range variants {
		c.Variants = append(c.Variants, VariantResult{Name: v.Name})
	}
	screen := plots.NewPartial(ctx, "runs", float64(compareSeeds*len(variants)))
	ctx = display.Unmeasured(ctx)
	defer func() { c.drawn = screen.Close(c.Figure) }()
	ended := 0
	for seed := 1; seed <= compareSeeds; seed++ {
		for i, v := range variants {
			Seed(uint64(seed))
			follow := &comparing{show: func(r *Run) {
				screen.Set(float64(ended)+r.part(), fmt.Sprintf("%s, seed %d", v.Name, seed), func() func() *plots.Figure { return c.soFar(i, r) })
			}}
			run, err := Fit(ctx, newModel(), train, append(append([]Option{}, v.options...), Quiet(), labelled(v.Name), observe(follow))...)
			ended++
			if len(run.Steps) > 0 {
				c.Variants[i].Runs = append(c.Variants[i].Runs, run)
			}
			var diverged *DivergedError
			if errors.As(err, &diverged) {
				continue // which is a result
			}
			if err != nil {
				c.Err = fmt.Errorf("accel: Compare: %s: %w", v.Name, err)
				return c, c.Err
			}
		}
	}
	return c, nil
}

// comparing shows how far a run of a comparison is.
type comparing struct {
	ownObserver
	show func(*Run)
}

// Step shows the run.
func (c *comparing) Step(t *Training, _ Step) error {
	c.show(t.Run)
	return nil
}

// Validation shows the run.
func (c *comparing) Validation(t *Training, _ Validation) error { return c.Step(t, Step{}) }

// soFar gives a function that draws what is known while the next run of a variant goes on.
func (c *Comparison) soFar(variant int, r *Run) func() *plots.Figure {
	now, run := *c, *r
	now.Variants = slices.Clone(c.Variants)
	for i := range now.Variants {
		now.Variants[i].Runs = slices.Clone(now.Variants[i].Runs)
	}
	if v := &now.Variants[variant]; len(run.Epochs) > 0 {
		v.Runs = append(v.Runs, &run)
	}
	if !slices.ContainsFunc(now.Variants, func(v VariantResult) bool { return len(v.Runs) > 0 }) {
		return func() *plots.Figure { return nil }
	}
	return now.Figure
}

// spread is mean and standard deviation of a number over the runs.
type spread struct{ mean, deviation float64 }

// over measures something of each run. The deviation is that of a sample, NaN of
// a single run.
func (c VariantResult) over(measure func(*Run) float64) spread {
	n := float64(len(c.Runs))
	sum := 0.0
	for _, r := range c.Runs {
		sum += measure(r)
	}
	s := spread{mean: sum / n}
	squares := 0.0
	for _, r := range c.Runs {
		d := measure(r) - s.mean
		squares += d * d
	}
	s.deviation = math.Sqrt(squares / (n - 1))
	return s
}

func (s spread) text(format string) string {
	switch {
	case math.IsNaN(s.mean) || math.IsInf(s.mean, 0):
		return "–"
	case math.IsNaN(s.deviation):
		return fmt.Sprintf(format, s.mean)
	}
	return fmt.Sprintf(format+" ± "+format, s.mean, s.deviation)
}

// Loss returns the mean over the seeds of [Run.Loss] and its standard deviation.
func (c VariantResult) Loss() (mean, deviation float64) {
	s := c.over((*Run).Loss)
	return s.mean, s.deviation
}

// Accuracy returns the mean over the seeds of [Run.Accuracy] and its standard
// deviation.
func (c VariantResult) Accuracy() (mean, deviation float64) {
	s := c.over((*Run).Accuracy)
	return s.mean, s.deviation
}

// Seconds returns the mean over the seeds of the time of training and its standard
// deviation.
func (c VariantResult) Seconds() (mean, deviation float64) {
	s := c.over(func(r *Run) float64 { return r.Time.Total.Seconds() })
	return s.mean, s.deviation
}

func (c *Comparison) table() table {
	t := table{headings: []string{"", "loss", "accuracy", "seconds", "examples/s"}}
	checked, diverged := false, 0
	for _, v := range c.Variants {
		for _, r := range v.Runs {
			checked = checked || len(r.Validations) > 0
			if n := len(r.Steps); n > 0 && (math.IsNaN(r.Steps[n-1].Loss) || math.IsInf(r.Steps[n-1].Loss, 0)) {
				diverged++
			}
		}
		t.rows = append(t.rows, []string{
			v.Name,
			v.over((*Run).Loss).text("%.4f"),
			v.over(func(r *Run) float64 { return 100 * r.Accuracy() }).text("%.2f") + " %",
			v.over(func(r *Run) float64 { return r.Time.Total.Seconds() }).text("%.2f"),
			quantity(v.over((*Run).ExamplesPerSecond).mean),
		})
	}
	what := "loss and accuracy of training"
	if checked {
		what = "loss and accuracy of validation"
	}
	t.below = fmt.Sprintf("%s, %s; mean ± standard deviation of %s", c.Dataset, what, plural(c.Seeds, "seed"))
	if diverged > 0 {
		t.below += fmt.Sprintf("\n%s diverged", plural(diverged, "run"))
	}
	if c.Err != nil {
		t.below += fmt.Sprintf("\nended early: %v", c.Err)
	}
	return t
}

// Figure draws the loss of each variant over the steps of its first seed:
// validation's where there is one, else training's.
func (c *Comparison) Figure() *plots.Figure {
	var series []plots.Series
	what := "Loss by epoch"
	for _, v := range c.Variants {
		if len(v.Runs) == 0 {
			continue
		}
		s := plots.Series{Name: v.Name}
		epochs := 0
		for _, r := range v.Runs {
			epochs = max(epochs, len(r.Epochs))
		}
		for e := range epochs {
			sum, n := 0.0, 0
			for _, r := range v.Runs {
				if loss, ok := r.epochLoss(e); ok {
					sum, n = sum+loss, n+1
				}
			}
			s.X, s.Y = append(s.X, float64(e+1)), append(s.Y, sum/float64(n))
		}
		series = append(series, s)
	}
	return plots.Lines(what, series...).XLabel("epoch").YLabel("loss").
		Subtitle(fmt.Sprintf("%s, mean of %s", c.Dataset, plural(c.Seeds, "seed")))
}

// epochLoss returns the validation loss of epoch e, from 0, or its training loss.
func (r *Run) epochLoss(e int) (loss float64, ok bool) {
	if e >= len(r.Epochs) {
		return 0, false
	}
	for i := len(r.Validations) - 1; i >= 0; i-- {
		if r.Validations[i].Epoch == e+1 {
			return r.Validations[i].Loss, true
		}
	}
	return r.Epochs[e].Loss, true
}

// String returns the table in text.
func (c *Comparison) String() string { return c.table().text() }

// MIMEBundle shows the comparison: the figure with the table below it.
func (c *Comparison) MIMEBundle() map[string]any {
	return figureAndTable(!c.drawn && len(c.Variants) > 0 && len(c.Variants[0].Runs) > 0, c.Figure, c.table())
}
