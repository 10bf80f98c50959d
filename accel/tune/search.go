package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/internal/quantity"
)

// Search is the result of [Run]. Notebooks display it as figures of the best value so far and of
// the settings, and a table of the best trials.
type Search struct {
	Method    string   // as a Go expression
	Maximized bool     // the best value is the largest one
	Trials    []*Trial // in the order in which they began
	// Notes explains events of the search, such as an early end.
	Notes []string

	sampler   func() sampler
	halving   *halving
	budget    int // units of work; 0 means no limit
	spent     int // by the trials that have ended
	running   int // by the current trial
	seed      uint64
	together  int                  // trials of a round, which do not know each other's results; 0 means 1
	round     []*Trial             // those of the current round that have been planned
	space     map[string]dimension // of the settings, as last requested before this round
	compared  map[string]bool      // settings whose ranges change, but not from rank to rank
	file      *file                // nil without Resume
	screen    *screen
	displayed bool // the figure has been displayed
}

// size returns the number of trials of a round.
func (s *Search) size() int { return max(s.together, 1) }

// before returns the trials whose results a trial may use: those of the rounds before its own. This makes the search independent of
// the number of ranks that run it.
func (s *Search) before(t *Trial) []*Trial {
	return s.Trials[:min((t.Number-1)/s.size()*s.size(), len(s.Trials))]
}

// units returns the units of work of trials.
func units(trials []*Trial) (sum int) {
	for _, t := range trials {
		sum += len(t.Reports)
	}
	return sum
}

// Best returns the finished trial with the best value (the first of equal ones), or nil.
func (s *Search) Best() *Trial {
	var best *Trial
	for _, t := range s.Trials {
		if t.State == Finished && (best == nil || s.better(t.Value, best.Value)) {
			best = t
		}
	}
	return best
}

// better reports whether a value is better than another; any value is better than NaN.
func (s *Search) better(value, than float64) bool {
	if s.Maximized {
		return value > than || math.IsNaN(than) && !math.IsNaN(value)
	}
	return value < than || math.IsNaN(than) && !math.IsNaN(value)
}

// compare orders trials, the best first.
func (s *Search) compare(a, b *Trial) int {
	class := map[State]int{Finished: 0, Stopped: 1, Diverged: 2, OutOfMemory: 2}
	if c := class[a.State] - class[b.State]; c != 0 {
		return c
	}
	if a.State == Stopped {
		if c := len(b.Reports) - len(a.Reports); c != 0 {
			return c
		}
	}
	if s.Maximized {
		return cmp.Compare(b.Value, a.Value)
	}
	return cmp.Compare(a.Value, b.Value)
}

// bestSoFar returns the best value after each trial, NaN before the first finished one.
func (s *Search) bestSoFar() []float64 {
	best := math.NaN()
	values := make([]float64, len(s.Trials))
	for i, t := range s.Trials {
		if t.State == Finished && s.better(t.Value, best) {
			best = t.Value
		}
		values[i] = best
	}
	return values
}

// counts returns a text with the number of trials in each state.
func (s *Search) counts() string {
	n := map[State]int{}
	for _, t := range s.Trials {
		n[t.State]++
	}
	text := quantity.Plural(len(s.Trials), "trial")
	if n[Stopped] > 0 {
		text += fmt.Sprintf(", %d stopped early", n[Stopped])
	}
	if n[Diverged] > 0 {
		text += fmt.Sprintf(", %d diverged", n[Diverged])
	}
	if n[OutOfMemory] > 0 {
		text += fmt.Sprintf(", %d out of memory", n[OutOfMemory])
	}
	return text
}

func (s *Search) note(format string, values ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, values...))
}

// noteOnce adds a note that the search does not have yet.
func (s *Search) noteOnce(format string, values ...any) {
	if text := fmt.Sprintf(format, values...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}
