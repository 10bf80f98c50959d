package tune

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Variant is one way to search, to be compared with others by [Compare]. [V] makes
// it.
type Variant struct {
	Name    string
	options []Option
}

// NewVariant names a way to search: options of [Run].
func NewVariant(name string, options ...Option) Variant { return Variant{name, options} }

// Comparison is what [Compare] measured. It shows itself: the best value so far with
// its spread over the seeds, and a table.
type Comparison struct {
	Variants []Compared
	// Units says that the searches had equal [Budget]s of units of work, and not of
	// trials.
	Units bool
	// Err is why the comparison ended before all was measured.
	Err error

	drawn bool // the figure is on the page
}

// Compared are the searches of one variant, one for each seed.
type Compared struct {
	Name     string
	Searches []*Search
	Seconds  []float64 // of each search
}

// Compare repeats each search with the seeds from 1 on and gives means and standard
// deviations of the best values. Options for all of them say how much they may
// spend: [Trials], or [Budget] where some stop trials early. The variants take
// turns, so that what else the machine does falls on all of them. Errors are as
// those of [Run] and come with what was measured so far.
func Compare(ctx context.Context, objective func(*Trial) (float64, error), variants []Variant, given ...Option) (*Comparison, error) {
	c := &Comparison{}
	o, err := newOptions(given)
	switch {
	case err != nil:
		c.Err = err
	case len(variants) == 0:
		c.Err = errors.New("tune: Compare: there are no variants; tune.NewVariant makes one")
	case o.file != "":
		c.Err = errors.New("tune: Compare: Resume keeps one search, and these are several")
	}
	if c.Err != nil {
		return c, c.Err
	}
	c.Units = o.budget > 0
	for _, v := range variants {
		c.Variants = append(c.Variants, Compared{Name: v.Name})
	}
	screen := plots.NewPartial(ctx, "searches", float64(o.seeds*len(variants)))
	ctx = display.Unmeasured(ctx)
	defer func() { c.drawn = screen.Close(c.Figure) }()
	ended := 0
	for seed := 1; seed <= o.seeds; seed++ {
		for i, v := range variants {
			began := time.Now()
			all := slices.Concat(given, v.options, []Option{Seed(uint64(seed)), Quiet()})
			spends, err := newOptions(all)
			if err != nil {
				c.Err = fmt.Errorf("tune: Compare: %s: %w", v.Name, err)
				return c, c.Err
			}
			follow := Option{"", func(o *options) error {
				o.follow = func(s *Search) {
					done, of := s.made(spends)
					screen.Set(float64(ended)+min(done/of, 1), fmt.Sprintf("%s, seed %d, %s", v.Name, seed, plural(len(s.Trials), "trial")),
						func() func() *plots.Figure { return c.soFar(i, s) })
				}
				return nil
			}}
			s, err := Run(ctx, objective, append(all, follow)...)
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

// soFar gives a function that draws what is known while a further search of a variant goes
// on, which counts where it is the variant's first.
func (c *Comparison) soFar(variant int, s *Search) func() *plots.Figure {
	now := *c
	now.Variants = slices.Clone(c.Variants)
	for i := range now.Variants {
		now.Variants[i].Searches = slices.Clone(now.Variants[i].Searches)
	}
	if v := &now.Variants[variant]; len(v.Searches) == 0 {
		v.Searches = []*Search{s.snapshot()}
	}
	return now.Figure
}

// Best is the mean over the seeds of the best values and its standard deviation,
// that of a sample: NaN of a single seed, and where a search has none.
func (c Compared) Best() (mean, deviation float64) {
	return spread(c.Searches, func(s *Search) float64 { return s.at(math.Inf(1), false) })
}

// spread is mean and standard deviation of a number over searches.
func spread(searches []*Search, measure func(*Search) float64) (mean, deviation float64) {
	values := make([]float64, len(searches))
	for i, s := range searches {
		values[i] = measure(s)
	}
	return stat.MeanStdDev(values, nil)
}

// extremes are the lowest and the highest of a number over searches.
func extremes(searches []*Search, measure func(*Search) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range searches {
		low, high = min(low, measure(s)), max(high, measure(s))
	}
	return low, high
}

// at is the best value after so much was spent, in units or in trials.
func (s *Search) at(spent float64, units bool) float64 {
	best, sum := math.NaN(), 0.
	for i, v := range s.sofar() {
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

// spending is what the longest search spent.
func (c *Comparison) spending() int {
	most := 0
	for _, v := range c.Variants {
		for _, s := range v.Searches {
			spent := len(s.Trials)
			if c.Units {
				spent = s.spent
			}
			most = max(most, spent)
		}
	}
	return most
}

// Figure draws the best value so far of each variant as the mean over the seeds,
// within one standard deviation.
func (c *Comparison) Figure() *plots.Figure {
	const most = 60 // points of a curve
	total := c.spending()
	low, high := math.Inf(1), math.Inf(-1)
	step := max(1, (total+most-1)/most)
	var bands []plots.Band
	for _, v := range c.Variants {
		if len(v.Searches) == 0 {
			continue
		}
		b := plots.Band{Series: plots.Series{Name: v.Name, X: []float64{}}}
		for spent := step; spent <= total; spent += step {
			mean, deviation := spread(v.Searches, func(s *Search) float64 { return s.at(float64(spent), c.Units) })
			if math.IsNaN(mean) {
				continue // a search has finished no trial yet
			}
			b.X, b.Y = append(b.X, float64(spent)), append(b.Y, mean)
			// What no search has found is not in the band: a loss is not below zero.
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
	f := plots.Bands("Best so far", bands...).XLabel(unit).Stepped().Subtitle(c.seeds())
	if low > 0 && high > 4*low { // first trials may be far from the last
		f.LogY()
	}
	return f
}

func (c *Comparison) seeds() string {
	n := 0
	for _, v := range c.Variants {
		n = max(n, len(v.Searches))
	}
	return "mean ± standard deviation of " + plural(n, "seed")
}

// within is a mean with its standard deviation, which has two digits that count; the mean
// has no more places than that.
func within(mean, deviation float64) string {
	if !(deviation > 1e-9) || math.IsInf(deviation, 0) || math.IsNaN(mean) || math.Abs(mean) >= 1e6 {
		return measured(mean) + " ± " + measured(deviation)
	}
	places := max(0, 1-int(math.Floor(math.Log10(deviation))))
	return fmt.Sprintf("%.*f ± %.*f", places, mean, places, deviation)
}

func (c *Comparison) table() display.Content {
	var rows [][]any
	for _, v := range c.Variants {
		mean, deviation := v.Best()
		best := measured(mean)
		if !math.IsNaN(deviation) {
			best = within(mean, deviation)
		}
		trials, _ := spread(v.Searches, func(s *Search) float64 { return float64(len(s.Trials)) })
		units, _ := spread(v.Searches, func(s *Search) float64 { return float64(s.spent) })
		row := []any{v.Name, best, fmt.Sprintf("%.0f", trials)}
		if c.Units {
			row = append(row, fmt.Sprintf("%.0f", units))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f", stat.Mean(v.Seconds, nil))))
	}
	columns := []string{"search", "best", "trials"}
	if c.Units {
		columns = append(columns, "units")
	}
	return display.Table(rows, append(columns, "seconds")...)
}

// below is what stands under the table.
func (c *Comparison) below() string {
	text := c.seeds()
	if c.Err != nil {
		text += fmt.Sprintf("; ended early: %v", c.Err)
	}
	return text
}

// String is the table in text.
func (c *Comparison) String() string {
	return fmt.Sprint(c.table().MIMEBundle()["text/plain"]) + "\n" + c.below()
}

// MIMEBundle shows the comparison: the figure with the table below it.
func (c *Comparison) MIMEBundle() map[string]any {
	page := fmt.Sprint(c.table().MIMEBundle()["text/html"]) + "<div>" + html.EscapeString(c.below()) + "</div>"
	if c.spending() > 0 && !c.drawn {
		page = "<div>" + c.Figure().HTML() + "</div>" + page
	}
	return map[string]any{"text/html": page, "text/plain": c.String()}
}
