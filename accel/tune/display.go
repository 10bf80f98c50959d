package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/training/trials"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// screen displays a running search.
type screen struct {
	figures *plots.Live // nil with Quiet
	follow  func(*Search)
	o       *options
	began   time.Time
	before  float64 // progress of a resumed search at its start
}

// newScreen displays the figure. It ends with close and not with ctx, so that an interrupted
// search still displays its final figure.
func newScreen(ctx context.Context, s *Search, o *options) *screen {
	v := &screen{follow: o.follow, o: o, began: time.Now()}
	v.before, _ = s.progress(o)
	if !o.quiet && trials.First(o.group) {
		v.figures = plots.NewLive(context.WithoutCancel(ctx))
	}
	return v
}

// progress returns the progress of the search and its total, in units of the budget or in trials.
func (s *Search) progress(o *options) (done, of float64) {
	if spent := s.spent + s.running; s.budget > 0 && spent*o.trials > len(s.Trials)*s.budget { // the budget ends first
		return float64(spent), float64(s.budget)
	}
	return float64(len(s.Trials)), float64(o.trials)
}

// offer updates the display if it is due.
func (v *screen) offer(s *Search) {
	if v == nil {
		return
	}
	if v.figures != nil && v.figures.Due() {
		v.draw(s)
	}
	if v.follow != nil {
		v.follow(s)
	}
}

func (v *screen) draw(s *Search) {
	now := s.snapshot()
	done, of := s.progress(v.o)
	p := display.Progress{Label: "trials", Done: done - v.before, Total: of - v.before, Passed: time.Since(v.began)}
	if s.budget > 0 && of == float64(s.budget) {
		p.Label = "units of work"
	}
	v.figures.Update(func() *plots.Figure { return now.Figure().Progress(p) })
}

// snapshot copies the current state of the search; trials that have ended do not change.
func (s *Search) snapshot() *Search {
	now := *s
	now.space = nil
	return &now
}

func (v *screen) close(s *Search) {
	if v == nil || v.figures == nil {
		return
	}
	last := s.snapshot()
	v.figures.Update(last.Figure)
	v.figures.Close()
	s.displayed = true
}

// Figure draws the best value so far over the trials and, for settings that several trials
// have, a line for each trial. The best trials have the strongest lines.
func (s *Search) Figure() *plots.Figure {
	values := s.bestSoFar()
	numbers := make([]float64, len(values))
	for i := range numbers {
		numbers[i] = float64(i + 1)
	}
	// There is no best value before the first trial has finished.
	first := slices.IndexFunc(values, finite)
	if first < 0 {
		first = len(values)
	}
	best := plots.Lines("Best so far", plots.Series{X: numbers[first:], Y: values[first:]}).XLabel("trial").Size(0, 170).Stepped().Subtitle(s.outcome())
	axes := s.axes()
	if len(axes) < 2 {
		return best
	}
	return plots.Stack(best, plots.ParallelCoordinates("Settings", s.strengths(), axes...).Subtitle(quantity.Plural(len(s.Trials), "trial")+": strong lines are the best"))
}

// axes returns the settings in the order of their requests, and the value.
func (s *Search) axes() []plots.Axis {
	var axes []plots.Axis
	at := map[string]int{}
	for i, t := range s.Trials {
		for _, setting := range t.Settings {
			k, ok := at[setting.Name]
			if !ok {
				k = len(axes)
				at[setting.Name] = k
				axes = append(axes, plots.Axis{Name: setting.Name, Values: slices.Repeat([]float64{math.NaN()}, len(s.Trials))})
			}
			a := &axes[k]
			switch v := setting.Value.(type) {
			case float64:
				a.Values[i] = v
			case int:
				a.Values[i] = float64(v)
			case string:
				if !slices.Contains(a.Words, v) {
					a.Words = append(a.Words, v)
				}
				a.Values[i] = float64(slices.Index(a.Words, v))
			}
		}
	}
	for k := range axes {
		axes[k].Log = spansDecades(axes[k].Values)
	}
	value := plots.Axis{Name: "value"}
	for _, t := range s.Trials {
		value.Values = append(value.Values, t.Value)
	}
	value.Log = skewed(value.Values)
	return append(axes, value)
}

// spansDecades reports whether positive values span more than two orders of magnitude, which need a
// logarithmic axis.
func spansDecades(values []float64) bool {
	low, high := math.Inf(1), 0.
	for _, v := range values {
		if v <= 0 {
			return false
		}
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return high > 100*low
}

// skewed reports whether all values are positive and the highest is many times the median, so
// that one bad trial would compress the others on a linear axis.
func skewed(values []float64) bool {
	var sorted []float64
	for _, v := range values {
		if v <= 0 {
			return false
		}
		if finite(v) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	n := len(sorted)
	return n > 2 && sorted[n-1] > 5*sorted[n/2]
}

// strengths returns the ranks of the trials, scaled from 0 to 1.
func (s *Search) strengths() []float64 {
	order := slices.Clone(s.Trials)
	slices.SortStableFunc(order, s.compare)
	weights := make([]float64, len(order))
	for rank, t := range order {
		if t.State == Finished {
			weights[t.Number-1] = 1 - float64(rank)/float64(len(order))
		}
	}
	return weights
}

// outcome returns the search in one line.
func (s *Search) outcome() string {
	best := s.Best()
	switch {
	case len(s.Trials) == 0:
		return "no trials"
	case best == nil:
		return s.counts() + ", none finished"
	case len(best.Settings) == 0:
		return fmt.Sprintf("%s: best %s, trial %d", s.counts(), formatValue(best.Value), best.Number)
	}
	return fmt.Sprintf("%s: best %s, trial %d with %s", s.counts(), formatValue(best.Value), best.Number, best.settings())
}

// tableRows is the number of trials in the table.
const tableRows = 5

// String returns the search in one line, followed by its notes.
func (s *Search) String() string {
	return strings.Join(append([]string{s.outcome()}, s.Notes...), "\n")
}

// Report returns the figure unless it has already been displayed, the text, and a table of the best trials.
func (s *Search) Report() *display.Report {
	r := new(display.Report)
	if len(s.Trials) > 0 && !s.displayed {
		r.Figure(s.Figure())
	}
	if r.Text(s.String()); len(s.Trials) == 0 {
		return r
	}
	order := slices.Clone(s.Trials)
	slices.SortStableFunc(order, s.compare)
	order = order[:min(len(order), tableRows)]
	columns := []string{"trial", "value"}
	for _, t := range order {
		for _, setting := range t.Settings {
			if !slices.Contains(columns[2:], setting.Name) {
				columns = append(columns, setting.Name)
			}
		}
	}
	r.Table(append(slices.Clone(columns), "state", "seconds")...)
	for _, t := range order {
		row := []any{t.Number, formatValue(t.Value)}
		for _, name := range columns[2:] {
			row = append(row, Setting{name, t.Get(name)}.text())
		}
		r.Row(append(row, string(t.State), fmt.Sprintf("%.2f", t.Seconds))...)
	}
	return r
}
