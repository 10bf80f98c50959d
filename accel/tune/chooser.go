package tune

import (
	"math/rand/v2"
	"slices"
)

// chooser decides what a trial tries.
type chooser interface {
	// begin is called before each trial, and false says that there is nothing
	// left to try.
	begin(s *Search, t *Trial) bool
	// choose gives a coordinate of a dimension that the trial has not asked for
	// yet.
	choose(t *Trial, name string, d dimension) float64
}

// Random lets every trial try settings at random. The space is covered evenly
// however many trials there are, which makes it what other searches have to beat
// (Bergstra and Bengio, Random Search for Hyper-Parameter Optimization, 2012).
func Random() Option {
	return Option{"Random()", func(o *options) error { o.chooser = random{}; return nil }}
}

type random struct{}

func (random) begin(*Search, *Trial) bool { return true }

func (random) choose(t *Trial, _ string, d dimension) float64 { return uniform(t.random, d) }

// uniform is a coordinate at random.
func uniform(r *rand.Rand, d dimension) float64 {
	low, high := d.ends()
	at := low + r.Float64()*(high-low)
	if d.kind == whole || d.kind == choice {
		at = d.round(at)
	}
	return at
}

// stream is the random numbers of a trial, its own in each search.
func stream(seed uint64, trial int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(trial))) }

// earlier are the trials before t that have ended, the best first: those that were
// finished by their value, then those that were stopped, the longest first, and
// last those that diverged or were too large.
func earlier(s *Search, t *Trial) []*Trial {
	ended := slices.DeleteFunc(slices.Clone(s.Trials), func(u *Trial) bool { return u.Number >= t.Number })
	slices.SortStableFunc(ended, s.compare)
	return ended
}
