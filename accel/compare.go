package accel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/seeds"
	"github.com/quernlab/quern/accel/internal/training/trials"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Variant is one way to train that [Compare] compares with others. [NewVariant] creates it.
type Variant struct {
	Name    string // in the figure and the table
	options []Option
}

// NewVariant returns a variant with a name and options of [Fit].
func NewVariant(name string, options ...Option) Variant { return Variant{name, options} }

// compareSeeds are the seeds of the runs of each variant.
const compareSeeds = 3

// Comparison is what [Compare] measured. It displays itself as a figure of the losses and a
// table of means and standard deviations over the seeds.
type Comparison struct {
	Dataset  string          // name of the training set
	Seeds    int             // planned runs per variant; there are fewer if the comparison ended early
	Variants []VariantResult // in the order of the call
	// Err is the error that ended the comparison early.
	Err error

	drawn bool // the figure has been displayed
}

// VariantResult is the results of one variant, with one run for each seed.
type VariantResult struct {
	Name string // as Variant.Name
	// Runs are in the order of the seeds. A run that was interrupted is left out, unless it is the
	// variant's first.
	Runs []*Run
}

// Compare trains a new model with each variant and the seeds 1, 2 and 3, and returns means and
// standard deviations of the results. newModel creates an untrained model. The variants are
// interleaved, so that other load on the machine affects all of them. Compare calls [Seed] with
// each seed; the last one stays in effect. Errors are those of [Fit]; the comparison so far is
// returned with them.
func Compare(ctx context.Context, newModel func() nn.Module, train *data.Dataset, variants ...Variant) (*Comparison, error) {
	return compare(ctx, nil, newModel, train, variants)
}

// CompareOnRanks is [Compare] on the ranks of a group, each of which calls it with the same arguments: the trainings run side by side,
// each on one rank. Ranks on one machine use its GPUs by their local ranks, unless a variant has [On]. All ranks get all runs, without
// their Utilization, and the losses do not depend on the number of ranks; the times do, if the ranks share a machine. Rank 0 displays
// the comparison. An error of one training ends the comparison on all ranks.
//
// Before the first training the ranks compare their arguments and a model, for which each calls newModel once more: layers and initial
// weights must be equal after the same [Seed], and data sets must have the same examples. Otherwise all ranks return an error that names
// the rank that differs, and the group can be used for the corrected call.
func CompareOnRanks(ctx context.Context, group *parallel.Group, newModel func() nn.Module, train *data.Dataset, variants ...Variant) (*Comparison, error) {
	if group == nil && ctx != nil {
		c := &Comparison{Seeds: compareSeeds, Err: errors.New("accel: CompareOnRanks: the group is nil: check the error of parallel.Join")}
		return c, c.Err
	}
	return compare(ctx, group, newModel, train, variants)
}

// compared is what a training of a comparison was.
type compared struct {
	Run    *Run
	Failed bool
}

func compare(ctx context.Context, group *parallel.Group, newModel func() nn.Module, train *data.Dataset, variants []Variant) (*Comparison, error) {
	c := &Comparison{Seeds: compareSeeds}
	if c.Err = interrupt.RequireContext(ctx, "accel: Compare"); c.Err != nil {
		return c, c.Err
	}
	switch {
	case newModel == nil:
		c.Err = errors.New("the function that creates a model is nil")
	case train == nil:
		c.Err = errors.New("the training set is nil: check the error returned where it was created")
	case len(variants) == 0:
		c.Err = errors.New("there are no variants: create them with accel.NewVariant")
	default:
		c.Dataset = train.Name()
	}
	call := trials.Call{Arguments: c.Dataset, NewModel: newModel, Sets: []*data.Dataset{train}}
	for _, v := range variants {
		o, err := newOptions(v.options)
		if group != nil && err == nil && o.Group != nil && c.Err == nil {
			c.Err = fmt.Errorf("the variant %q trains on all ranks of a group, but each rank makes its own trainings: use Compare for DataParallel", v.Name)
		}
		call.Arguments += fmt.Sprintf(", %s %v", v.Name, v.options)
		call.Sets = append(call.Sets, o.Validate)
		c.Variants = append(c.Variants, VariantResult{Name: v.Name})
	}
	if err := trials.Same(ctx, group, call, c.Err); err != nil {
		c.Err = fmt.Errorf("accel: Compare: %w", err)
		return c, c.Err
	}
	var screen *plots.Partial
	if trials.First(group) {
		here := compareSeeds * len(variants) // runs of this process
		if group != nil {
			here = (here + group.Size() - 1) / group.Size()
		}
		screen = plots.NewPartial(ctx, "runs", float64(here))
	}
	ctx = display.Unmeasured(ctx)
	defer func() { c.drawn = screen.Close(c.Figure) }()
	ended := 0
	own := *c // the runs of this process, to display them
	own.Variants = slices.Clone(c.Variants)
	runs, err := trials.Run(ctx, group, compareSeeds*len(variants), func(job int) (compared, error) {
		seed, i := 1+job/len(variants), job%len(variants)
		v := variants[i]
		Seed(uint64(seed))
		follow := func(r *Run) bool {
			screen.Set(float64(ended)+partDone(r), fmt.Sprintf("%s, seed %d", v.Name, seed), func() func() *plots.Figure { return own.soFar(i, r) })
			return false
		}
		run, err := fitNew(ctx, newModel, train, append(slices.Clone(v.options), Quiet(), labeled(v.Name), StopWhen(follow).hidden())...)
		ended++
		if _, ok := errors.AsType[*DivergedError](err); ok {
			err = nil // a diverged run is a result
		}
		own.add(i, compared{run, err != nil})
		if err != nil {
			err = fmt.Errorf("%s: seed %d, after %s of %d: %w", v.Name, seed, quantity.Plural(len(run.Steps), "step"), run.Planned, err)
		}
		return compared{run, err != nil}, err
	})
	for job, r := range runs {
		c.add(job%len(variants), r)
	}
	if err != nil {
		c.Err = fmt.Errorf("accel: Compare: %w", err)
	}
	if group != nil {
		Seed(compareSeeds) // the random numbers go on alike on all ranks
	}
	return c, c.Err
}

// add adds a run to a variant. One that has failed counts if it is the first.
func (c *Comparison) add(variant int, r compared) {
	if v := &c.Variants[variant]; r.Run != nil && len(r.Run.Steps) > 0 && (!r.Failed || len(v.Runs) == 0) {
		v.Runs = append(v.Runs, r.Run)
	}
}

// fitNew trains a new model. The run is not nil.
func fitNew(ctx context.Context, newModel func() nn.Module, train *data.Dataset, options ...Option) (run *Run, err error) {
	run = &Run{Best: -1}
	defer interrupt.Catch(&err) // newModel was interrupted
	return Fit(ctx, newModel(), train, options...)
}

// partDone returns the fraction of the planned steps that have been made.
func partDone(r *Run) float64 { return float64(len(r.Steps)) / float64(max(r.Planned, 1)) }

// soFar returns a function that draws the results so far. The current run of a variant counts if
// it is the variant's first.
func (c *Comparison) soFar(variant int, r *Run) func() *plots.Figure {
	now, run := *c, *r
	now.Variants = slices.Clone(c.Variants) // their runs are only appended to
	if v := &now.Variants[variant]; len(v.Runs) == 0 && len(run.Epochs) > 0 {
		v.Runs = append(v.Runs, &run)
	}
	if !slices.ContainsFunc(now.Variants, func(v VariantResult) bool { return len(v.Runs) > 0 }) {
		return func() *plots.Figure { return nil }
	}
	return now.Figure
}

// over returns the mean of a value over the runs and its standard deviation, NaN for a single run.
func (c VariantResult) over(measure func(*Run) float64) (mean, deviation float64) {
	return seeds.Of(c.Runs, measure)
}

// Loss returns the mean of [Run.Loss] over the seeds and its standard deviation.
func (c VariantResult) Loss() (mean, deviation float64) { return c.over((*Run).Loss) }

// Accuracy returns the mean of [Run.Accuracy] over the seeds and its standard deviation.
func (c VariantResult) Accuracy() (mean, deviation float64) { return c.over((*Run).Accuracy) }

// Seconds returns the mean training time over the seeds and its standard deviation.
func (c VariantResult) Seconds() (mean, deviation float64) {
	return c.over(func(r *Run) float64 { return r.Time.Total.Seconds() })
}

// Metric returns the mean of [Run.Metric] with a name, such as "F1 (macro)", over the seeds and its
// standard deviation. They are NaN if a run does not have the metric.
func (c VariantResult) Metric(name string) (mean, deviation float64) {
	return c.over(func(r *Run) float64 { return r.Metric(name) })
}

// metrics returns the metrics that any run has.
func (c *Comparison) metrics() (all []history.MetricValue) {
	for _, v := range c.Variants {
		for _, r := range v.Runs {
			for _, m := range r.Metrics() {
				if !slices.ContainsFunc(all, func(o history.MetricValue) bool { return o.Name == m.Name }) {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// share formats a fraction as a percentage.
func share(mean, deviation float64) string { return seeds.Text("%.2f", " %", 100*mean, 100*deviation) }

// Report returns the figure with the table below it.
func (c *Comparison) Report() *display.Report {
	out := new(display.Report)
	if !c.drawn && len(c.Variants) > 0 && len(c.Variants[0].Runs) > 0 {
		out.Figure(c.Figure())
	}
	columns, measured := []string{"", "loss", "accuracy"}, c.metrics()
	for _, m := range measured {
		columns = append(columns, m.Name)
	}
	out.Table(append(columns, "seconds", "examples/s")...)
	what, below := "training", ""
	for _, v := range c.Variants {
		diverged := 0
		for _, r := range v.Runs {
			if len(r.Validations) > 0 {
				what = "validation"
			}
			if r.Diverged() {
				diverged++
			}
		}
		if diverged > 0 {
			below += fmt.Sprintf("\n%s: %d of %s diverged", v.Name, diverged, quantity.Plural(len(v.Runs), "run"))
		}
		loss, deviation := v.Loss()
		row := []any{v.Name, seeds.Text("%.4f", "", loss, deviation), share(v.Accuracy())}
		for _, m := range measured {
			if mean, deviation := v.Metric(m.Name); m.Share {
				row = append(row, share(mean, deviation))
			} else {
				row = append(row, seeds.Text("%.4g", "", mean, deviation))
			}
		}
		seconds, deviation := v.Seconds()
		speed, _ := v.over((*Run).ExamplesPerSecond)
		out.Row(append(row, seeds.Text("%.2f", "", seconds, deviation), quantity.Rate(speed))...)
	}
	if c.Err != nil {
		below += fmt.Sprintf("\nended early: %v", c.Err)
	}
	return out.Text(fmt.Sprintf("%s, loss and accuracy of %s; %s", c.Dataset, what, seeds.Spread(c.Variants, VariantResult.seeds)) + below)
}

// seeds returns the name and the number of runs.
func (c VariantResult) seeds() (name string, runs int) { return c.Name, len(c.Runs) }

// Figure draws the mean loss of each variant over the epochs: the validation loss if there is
// one, else the training loss.
func (c *Comparison) Figure() *plots.Figure {
	var series []plots.Series
	what, fewer := "Loss by epoch", ""
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
				if loss, ok := epochLoss(r, e); ok {
					sum, n = sum+loss, n+1
				}
			}
			s.X, s.Y = append(s.X, float64(e+1)), append(s.Y, sum/float64(n))
			if n < len(v.Runs) {
				fewer = ", fewer after a run has ended"
			}
		}
		series = append(series, s)
	}
	return plots.Lines(what, series...).XLabel("epoch").YLabel("loss").
		Subtitle(c.Dataset + ", " + seeds.Means(c.Variants, VariantResult.seeds) + fewer)
}

// epochLoss returns the validation loss of epoch e, counted from 0, or else its training loss.
func epochLoss(r *Run, e int) (loss float64, ok bool) {
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

// String returns the table as text.
func (c *Comparison) String() string { return c.Report().String() }
