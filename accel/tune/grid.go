package tune

import "slices"

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

func (g *grid) fresh() sampler { return g }

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
