package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/seeds"
	"github.com/quernlab/quern/accel/internal/training/trials"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Variant is a search configuration for [Compare]; see [NewVariant].
type Variant struct {
	Name    string // in the figure and the table
	options []Option
}

// NewVariant returns a named search configuration: options of [Run].
func NewVariant(name string, options ...Option) Variant { return Variant{name, options} }

// Comparison is the result of [Compare]. Notebooks display it as a figure of the best value so far,
// with its spread over the seeds, and a table.
type Comparison struct {
	Variants []VariantResult // in the order of the call
	// Units says that the searches had the same [Budget] in units of work rather than in
	// trials.
	Units bool
	// Err is why the comparison ended early, if it did.
	Err error

	displayed bool // the figure has been displayed
}

// VariantResult holds the searches of one variant, one for each seed.
type VariantResult struct {
	Name     string    // as Variant.Name
	Searches []*Search // in the order of the seeds
	Seconds  []float64 // of each search
}

// Compare repeats each search with seeds from 1 on and reports means and standard deviations of
// the best values. Options for all variants limit the searches: [Trials], or [Budget] if some
// variants stop trials early. The variants alternate, so that interference by other processes
// affects all of them. Errors are those of [Run]; the comparison so far is returned with them.
func Compare(ctx context.Context, objective func(*Trial) (float64, error), variants []Variant, given ...Option) (*Comparison, error) {
	c := &Comparison{}
	if c.Err = interrupt.RequireContext(ctx, "tune: Compare"); c.Err != nil {
		return c, c.Err
	}
	o, err := newOptions("Compare", given, "Seeds")
	switch {
	case err != nil:
		c.Err = err
	case len(variants) == 0:
		c.Err = errors.New("tune: Compare: no variants: create them with tune.NewVariant")
	case o.file != "":
		c.Err = errors.New("tune: Compare: Resume is for a single search, but Compare makes several")
	}
	what := fmt.Sprint(given)
	for _, v := range variants {
		if _, err := newOptions("Run", v.options); err != nil && c.Err == nil {
			c.Err = fmt.Errorf("tune: Compare: %s: %w", v.Name, err)
		}
		what += fmt.Sprintf(", %s %v", v.Name, v.options)
		c.Variants = append(c.Variants, VariantResult{Name: v.Name})
	}
	if err := trials.Same(ctx, o.group, trials.Call{Arguments: what}, c.Err); err != nil {
		c.Err = err
		return c, c.Err
	}
	c.Units = o.budget > 0
	var screen *plots.Partial
	if trials.First(o.group) {
		screen = plots.NewPartial(ctx, "searches", float64(o.seeds*len(variants)))
	}
	ctx = display.Unmeasured(ctx)
	defer func() { c.displayed = screen.Close(c.Figure) }()
	ended := 0
	for seed := 1; seed <= o.seeds; seed++ {
		for i, v := range variants {
			began := time.Now()
			own, err := newOptions("Compare", slices.Concat(given, v.options, []Option{Seed(uint64(seed)), Quiet()}), "Seeds")
			if err != nil {
				c.Err = fmt.Errorf("tune: Compare: %s: %w", v.Name, err)
				return c, c.Err
			}
			own.follow = func(s *Search) {
				done, of := s.progress(own)
				screen.Set(float64(ended)+min(done/of, 1), fmt.Sprintf("%s, seed %d, %s", v.Name, seed, quantity.Plural(len(s.Trials), "trial")),
					func() func() *plots.Figure { return c.soFar(i, s) })
			}
			s, err := run(ctx, objective, own)
			ended++
			if err != nil {
				c.Err = fmt.Errorf("tune: Compare: %s, seed %d: %w", v.Name, seed, err)
				return c, c.Err
			}
			c.Variants[i].Searches = append(c.Variants[i].Searches, s)
			c.Variants[i].Seconds = append(c.Variants[i].Seconds, time.Since(began).Seconds())
		}
	}
	return c, nil
}

// soFar returns a function that draws the results while another search of a variant is running.
// That search counts if it is the variant's first.
func (c *Comparison) soFar(variant int, s *Search) func() *plots.Figure {
	now := *c
	now.Variants = slices.Clone(c.Variants) // their searches are only appended to
	if v := &now.Variants[variant]; len(v.Searches) == 0 {
		v.Searches = []*Search{s.snapshot()}
	}
	return now.Figure
}

// Best returns the mean and the sample standard deviation of the best values over the seeds.
// The deviation is NaN for a single seed, and both are NaN if a search has no best value.
func (c VariantResult) Best() (mean, deviation float64) {
	return seeds.Of(c.Searches, func(s *Search) float64 { return s.at(math.Inf(1), false) })
}

// extremes returns the minimum and the maximum of a measure over searches.
func extremes(searches []*Search, measure func(*Search) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range searches {
		low, high = min(low, measure(s)), max(high, measure(s))
	}
	return low, high
}

// at returns the best value after spending this many units or trials.
func (s *Search) at(spent float64, units bool) float64 {
	best, sum := math.NaN(), 0.
	for i, v := range s.bestSoFar() {
		if units {
			sum += float64(max(1, len(s.Trials[i].Reports)))
		} else {
			sum++
		}
		if sum > spent {
			break
		}
		best = v
	}
	return best
}

// spending returns what the longest search spent.
func (c *Comparison) spending() int {
	longest := 0
	for _, v := range c.Variants {
		for _, s := range v.Searches {
			spent := len(s.Trials)
			if c.Units {
				spent = s.spent
			}
			longest = max(longest, spent)
		}
	}
	return longest
}

// Figure draws the best value so far of each variant as the mean over the seeds, with a band of
// one standard deviation.
func (c *Comparison) Figure() *plots.Figure {
	const maxPoints = 60 // points of a curve
	total := c.spending()
	low, high := math.Inf(1), math.Inf(-1)
	step := max(1, (total+maxPoints-1)/maxPoints)
	var bands []plots.Band
	for _, v := range c.Variants {
		if len(v.Searches) == 0 {
			continue
		}
		b := plots.Band{Series: plots.Series{Name: v.Name, X: []float64{}}}
		for spent := step; spent <= total; spent += step {
			mean, deviation := seeds.Of(v.Searches, func(s *Search) float64 { return s.at(float64(spent), c.Units) })
			if math.IsNaN(mean) {
				continue // no trial of a search has finished yet
			}
			b.X, b.Y = append(b.X, float64(spent)), append(b.Y, mean)
			// Limit the band to values that a search has found: a loss is not negative.
			lowest, highest := extremes(v.Searches, func(s *Search) float64 { return s.at(float64(spent), c.Units) })
			b.Low, b.High = append(b.Low, max(mean-deviation, lowest)), append(b.High, min(mean+deviation, highest))
			low, high = min(low, lowest), max(high, mean)
		}
		bands = append(bands, b)
	}
	unit := "trials"
	if c.Units {
		unit = "units of work"
	}
	f := plots.Bands("Best so far", bands...).XLabel(unit).Stepped().Subtitle(seeds.Spread(c.Variants, VariantResult.seeds))
	if low > 0 && high > 4*low { // first trials may be far from the last
		f.LogY()
	}
	return f
}

// seeds returns the name and the number of searches.
func (c VariantResult) seeds() (name string, searches int) { return c.Name, len(c.Searches) }

// meanWithDeviation formats a mean with its standard deviation, which has two significant digits. The mean
// has no more decimal places than that.
func meanWithDeviation(mean, deviation float64) string {
	if !(deviation > 1e-9) || math.IsInf(deviation, 0) || math.IsNaN(mean) || math.Abs(mean) >= 1e6 {
		return formatValue(mean) + " ± " + formatValue(deviation)
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(deviation))))
	return fmt.Sprintf("%.*f ± %.*f", decimals, mean, decimals, deviation)
}

// Report returns the figure with the table below it.
func (c *Comparison) Report() *display.Report {
	r := new(display.Report)
	if c.spending() > 0 && !c.displayed {
		r.Figure(c.Figure())
	}
	columns := []string{"search", "best", "trials"}
	if c.Units {
		columns = append(columns, "units")
	}
	r.Table(append(columns, "seconds")...)
	for _, v := range c.Variants {
		mean, deviation := v.Best()
		best := formatValue(mean)
		if !math.IsNaN(deviation) {
			best = meanWithDeviation(mean, deviation)
		}
		trials, _ := seeds.Of(v.Searches, func(s *Search) float64 { return float64(len(s.Trials)) })
		row := []any{v.Name, best, fmt.Sprintf("%.0f", trials)}
		if c.Units {
			units, _ := seeds.Of(v.Searches, func(s *Search) float64 { return float64(s.spent) })
			row = append(row, fmt.Sprintf("%.0f", units))
		}
		seconds, _ := seeds.Mean(v.Seconds)
		r.Row(append(row, fmt.Sprintf("%.2f", seconds))...)
	}
	text := seeds.Spread(c.Variants, VariantResult.seeds)
	if c.Err != nil {
		text += fmt.Sprintf("; ended early: %v", c.Err)
	}
	return r.Text(text)
}

// String returns the table as text.
func (c *Comparison) String() string { return c.Report().String() }
