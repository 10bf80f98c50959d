package tune

import "fmt"

// Grid tries every combination, with so many values of each number, ends included
// and evenly apart (of LogFloat by orders of magnitude), and with every word. The
// search ends when all have been tried, also before its trials are used up; the
// setting that is asked for last changes first. Settings that are asked for only
// with certain others are tried only with these.
func Grid(points int) Option {
	text := fmt.Sprintf("Grid(%d)", points)
	return Option{text, func(o *options) error {
		if points < 1 {
			return fmt.Errorf("tune: %s: a number needs at least one value", text)
		}
		o.chooser = &grid{points: points}
		return nil
	}}
}

// grid counts through the combinations like an odometer, whose wheels are the
// settings in the order in which they are asked for.
type grid struct{ points int }

// wheel is where a trial stands in the values of one setting.
type wheel struct {
	Name  string `json:"name"`
	At    int    `json:"at"`
	Count int    `json:"count"`
}

func (g *grid) begin(s *Search, t *Trial) bool {
	if t.Number == 1 {
		return true
	}
	wheels := s.Trials[t.Number-2].wheels // of the trial before
	for i := len(wheels) - 1; i >= 0; i-- {
		if w := wheels[i]; w.At+1 < w.Count {
			w.At++
			t.wheels = append(append([]wheel{}, wheels[:i]...), w)
			return true
		}
	}
	return false
}

func (g *grid) choose(t *Trial, name string, d dimension) float64 {
	low, high, count := d.low, d.high, g.points
	switch d.kind {
	case logarithm:
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
	if at >= len(t.wheels) || t.wheels[at].Name != name {
		t.wheels = append(t.wheels[:min(at, len(t.wheels))], wheel{Name: name, Count: count})
	}
	if count == 1 {
		return low + (high-low)/2
	}
	return low + (high-low)*float64(min(t.wheels[at].At, count-1))/float64(count-1)
}
