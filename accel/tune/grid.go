package tune

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

func (g *grid) begin(s *Search, t *Trial) bool {
	if t.Number == 1 {
		return true
	}
	gridPositions := s.Trials[t.Number-2].gridPositions // of the previous trial
	for i := len(gridPositions) - 1; i >= 0; i-- {
		if w := gridPositions[i]; w.At+1 < w.Count {
			w.At++
			t.gridPositions = append(append([]gridPosition{}, gridPositions[:i]...), w)
			return true
		}
	}
	return false
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
