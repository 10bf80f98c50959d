package tune

import (
	"math/rand/v2"
	"slices"
)

// sampler selects the settings of a trial.
type sampler interface {
	// fresh returns a sampler for one trial.
	fresh() sampler
	// begin is called before each trial. It returns false if there is nothing left to try.
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

func (random) fresh() sampler { return random{} }

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
