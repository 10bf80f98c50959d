package tune

import (
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// sampler selects the settings of one trial.
type sampler interface {
	// begin is called before the trial. It returns false if there is nothing left to try.
	begin(s *Search, t *Trial) bool
	// sample returns a coordinate of a dimension that the trial has not requested yet.
	sample(t *Trial, name string, d dimension) float64
}

// Random selects settings at random in every trial. It covers the space evenly for any number
// of trials, which makes it the baseline that other searches must beat (Bergstra and Bengio,
// Random Search for Hyper-Parameter Optimization, 2012).
func Random() Option {
	return Option{method(func() sampler { return random{} }, "Random")}
}

type random struct{}

func (random) begin(*Search, *Trial) bool { return true }

func (random) sample(t *Trial, _ string, d dimension) float64 { return uniform(t.random, d) }

// uniform returns a random coordinate.
func uniform(r *rand.Rand, d dimension) float64 {
	low, high := d.ends()
	at := low + r.Float64()*(high-low)
	if d.kind == whole || d.kind == choice {
		at = d.round(at)
	}
	return at
}

// stream returns the random numbers of a trial, different for each search seed.
func stream(seed uint64, trial int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(trial))) }

// earlier returns the trials whose results t knows, the best first: finished ones by value,
// then stopped ones, the longest first, and last those that diverged or ran out of memory.
func earlier(s *Search, t *Trial) []*Trial {
	ended := slices.Clone(s.before(t))
	slices.SortStableFunc(ended, s.compare)
	return ended
}

// planner is a sampler that selects settings before the trial requests them.
type planner interface{ settings() []Setting }

// pending returns the trials of the same round before t, with the settings that were selected for them before they began: all
// that t knows of them, on whichever rank they run.
func pending(s *Search, t *Trial) (trials []*Trial) {
	for _, u := range s.round {
		if p, ok := u.sampler.(planner); ok && u.Number < t.Number {
			trials = append(trials, &Trial{Number: u.Number, Settings: p.settings()})
		}
	}
	return trials
}

// Grid tries every combination, with this many values for each number (evenly spaced, including
// both ends; for LogFloat on a logarithmic scale) and with every choice. The search ends when all
// combinations have been tried, even if fewer than [Trials]. The setting requested last varies
// fastest. Settings that are requested only for certain values of others are tried only with those.
func Grid(points int) Option {
	return Option{method(func() sampler { return &grid{points: points} }, "Grid", points).
		Require(points >= 1, "the number of points must be at least 1")}
}

// grid counts through the combinations like an odometer, whose wheels are the settings in the
// order of their requests.
type grid struct{ points int }

// gridPosition is the position of a trial in the values of one setting.
type gridPosition struct {
	Name  string `json:"name"`
	At    int    `json:"at"`
	Count int    `json:"count"`
}

// begin sets the position behind that of the previous trial. If that has not run yet, its settings are assumed to be those of
// the trial before it, which follows then finds out.
func (g *grid) begin(s *Search, t *Trial) bool {
	if t.Number == 1 {
		return true
	}
	if len(s.Trials) == 0 {
		return false
	}
	last := min(t.Number-1, len(s.Trials))
	position := s.Trials[last-1].gridPositions
	for n := last; n < t.Number; n++ {
		next := advance(position)
		if next == nil {
			return false
		}
		t.gridPositions = next
		position = slices.Clone(next)
		for _, w := range s.Trials[last-1].gridPositions[len(next):] {
			w.At = 0
			position = append(position, w)
		}
	}
	t.gridStart = slices.Clone(t.gridPositions)
	return true
}

// advance turns the odometer to the next combination, up to the last setting that changes; nil after the last.
func advance(positions []gridPosition) []gridPosition {
	for i := len(positions) - 1; i >= 0; i-- {
		if w := positions[i]; w.At+1 < w.Count {
			w.At++
			return append(slices.Clone(positions[:i]), w)
		}
	}
	return nil
}

// follows reports whether a trial has the combination behind that of the previous trial, which ran at the same time.
func (g *grid) follows(previous, t *Trial) bool {
	return slices.Equal(advance(previous.gridPositions), t.gridStart)
}

func (g *grid) sample(t *Trial, name string, d dimension) float64 {
	low, high, count := d.low, d.high, g.points
	switch d.kind {
	case logNumber:
		low, high = d.ends()
	case choice:
		count = len(d.words)
	case whole:
		count = int(min(float64(count), high-low+1))
	}
	if low == high {
		count = 1
	}
	at := len(t.Settings)
	if at >= len(t.gridPositions) || t.gridPositions[at].Name != name {
		t.gridPositions = append(t.gridPositions[:min(at, len(t.gridPositions))], gridPosition{Name: name, Count: count})
	}
	if count == 1 {
		return low + (high-low)/2
	}
	return low + (high-low)*float64(min(t.gridPositions[at].At, count-1))/float64(count-1)
}

// Halving stops unpromising trials: after first units of work, then after factor times as many
// and so on, a trial continues only if its value is among the best 1/factor of all trials that
// came that far. A unit is one [Trial.Report] (Li and others, A System for Massively Parallel
// Hyperparameter Tuning, 2018, without waiting: a trial is compared with earlier ones).
func Halving(first, factor int) Option {
	return Option{option.New(func(o *options) { o.halving = &halving{first, factor} }, "Halving", first, factor).
		Require(first >= 1 && factor >= 2, "first must be at least 1 and factor at least 2")}
}

type halving struct{ first, factor int }

// promotes reports whether a trial continues after its last report.
func (h *halving) promotes(s *Search, t *Trial) bool {
	unit := len(t.Reports)
	if !h.rung(unit) {
		return true
	}
	own := t.Reports[unit-1].Value
	if !finite(own) {
		return false
	}
	all, ahead := 1, 0
	for _, u := range s.before(t) {
		if len(u.Reports) < unit {
			continue
		}
		all++
		if s.better(u.Reports[unit-1].Value, own) {
			ahead++
		}
	}
	return ahead < max(1, all/h.factor)
}

// rung reports whether trials are compared after this many units.
func (h *halving) rung(unit int) bool {
	for at := h.first; at <= unit; at *= h.factor {
		if at == unit {
			return true
		}
	}
	return false
}
