package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// kind is a way of counting within a dimension.
type kind int

const (
	number    kind = iota // evenly
	logarithm             // by orders of magnitude
	whole                 // whole numbers
	choice                // words
)

// dimension is what a setting may be. Searches see it as coordinates: numbers of
// a range that are equally likely before anything is known. The coordinate of a
// logarithm is its exponent; of a whole number n all from n-½ to n+½; of a word
// its index, likewise.
type dimension struct {
	kind      kind
	low, high float64
	words     []string
}

// maxWhole is the largest number up to which a float64 has every whole one.
const maxWhole = 1 << 53

func (d dimension) check() error {
	switch {
	case d.kind == choice && len(d.words) == 0:
		return errors.New("there is nothing to choose from")
	case d.kind == choice && len(slices.Compact(slices.Sorted(slices.Values(d.words)))) < len(d.words):
		return errors.New("a word stands there twice")
	case d.kind == logarithm && !(d.low > 0):
		return fmt.Errorf("orders of magnitude are those of positive numbers, and the range begins at %g", d.low)
	case math.IsInf(d.low, 0) || math.IsInf(d.high, 0) || !(d.low <= d.high):
		return fmt.Errorf("there is nothing from %g to %g", d.low, d.high)
	case math.IsInf(d.high-d.low, 0):
		return fmt.Errorf("from %g to %g is farther than a number can say", d.low, d.high)
	case d.kind == whole && max(-d.low, d.high) > maxWhole:
		return fmt.Errorf("whole numbers from %.0f to %.0f: those beyond ±2⁵³ are not all told apart", d.low, d.high)
	}
	return nil
}

// like tells whether values of one dimension mean something in the other. A range
// may differ from trial to trial, the words may not.
func (d dimension) like(other dimension) bool {
	return d.kind == other.kind && slices.Equal(d.words, other.words)
}

// String says what the dimension is.
func (d dimension) String() string {
	switch d.kind {
	case logarithm:
		return "an order of magnitude"
	case whole:
		return "a whole number"
	case choice:
		return "a choice of " + strings.Join(d.words, ", ")
	}
	return "a number"
}

// ends are the coordinates between which the dimension lies.
func (d dimension) ends() (low, high float64) {
	switch d.kind {
	case logarithm:
		return math.Log(d.low), math.Log(d.high)
	case whole, choice:
		return d.low - .5, d.high + .5
	}
	return d.low, d.high
}

// value is what is at a coordinate.
func (d dimension) value(at float64) any {
	switch d.kind {
	case logarithm:
		return min(max(math.Exp(at), d.low), d.high)
	case whole:
		return int(d.round(at))
	case choice:
		return d.words[int(d.round(at))]
	}
	return min(max(at, d.low), d.high)
}

// round is the whole number that a coordinate belongs to.
func (d dimension) round(at float64) float64 { return min(max(math.Round(at), d.low), d.high) }

// coordinate is where a value is; ok is false for one that is not of this
// dimension.
func (d dimension) coordinate(value any) (at float64, ok bool) {
	switch v := value.(type) {
	case float64:
		if d.kind == logarithm && v > 0 {
			return math.Log(v), true
		}
		return v, d.kind == number
	case int:
		return float64(v), d.kind == whole
	case string:
		i := slices.Index(d.words, v)
		return float64(i), d.kind == choice && i >= 0
	}
	return 0, false
}
