package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// kind is the kind of a dimension.
type kind int

const (
	number    kind = iota // a number, uniformly distributed
	logNumber             // a positive number, log-uniformly distributed
	whole                 // an integer
	choice                // one of several strings
)

// dimension is the range of a setting. Searches work with coordinates, which are uniformly
// distributed a priori: the coordinate of a logarithm is the logarithm of the value; an integer n
// has all coordinates from n-½ to n+½; a string has those of its index.
type dimension struct {
	kind      kind
	low, high float64
	words     []string
}

// maxWhole is the largest integer up to which float64 represents every integer.
const maxWhole = 1 << 53

func (d dimension) check() error {
	switch {
	case d.kind == choice && len(d.words) == 0:
		return errors.New("there are no choices")
	case d.kind == choice && len(slices.Compact(slices.Sorted(slices.Values(d.words)))) < len(d.words):
		return errors.New("a choice occurs twice")
	case d.kind == logNumber && !(d.low > 0):
		return fmt.Errorf("a logarithmic range must be positive, but begins at %g", d.low)
	case math.IsInf(d.low, 0) || math.IsInf(d.high, 0) || !(d.low <= d.high):
		return fmt.Errorf("the range from %g to %g is empty", d.low, d.high)
	case math.IsInf(d.high-d.low, 0):
		return fmt.Errorf("the range from %g to %g is too wide for float64", d.low, d.high)
	case d.kind == whole && max(-d.low, d.high) > maxWhole:
		return fmt.Errorf("the integers from %.0f to %.0f exceed ±2⁵³, beyond which float64 does not represent every integer", d.low, d.high)
	}
	return nil
}

// like reports whether values of one dimension are meaningful in the other. The range may change
// from trial to trial, the choices may not.
func (d dimension) like(other dimension) bool {
	return d.kind == other.kind && slices.Equal(d.words, other.words)
}

// String describes the dimension.
func (d dimension) String() string {
	switch d.kind {
	case logNumber:
		return "a number on a logarithmic scale"
	case whole:
		return "an integer"
	case choice:
		return "one of " + strings.Join(d.words, ", ")
	}
	return "a number"
}

// ends returns the smallest and the largest coordinate.
func (d dimension) ends() (low, high float64) {
	switch d.kind {
	case logNumber:
		return math.Log(d.low), math.Log(d.high)
	case whole, choice:
		return d.low - .5, d.high + .5
	}
	return d.low, d.high
}

// value returns the value at a coordinate.
func (d dimension) value(at float64) any {
	switch d.kind {
	case logNumber:
		return min(max(math.Exp(at), d.low), d.high)
	case whole:
		return int(d.round(at))
	case choice:
		return d.words[int(d.round(at))]
	}
	return min(max(at, d.low), d.high)
}

// round returns the integer at a coordinate.
func (d dimension) round(at float64) float64 { return min(max(math.Round(at), d.low), d.high) }

// coordinate returns the coordinate of a value; ok is false for a value outside this dimension.
func (d dimension) coordinate(value any) (at float64, ok bool) {
	switch v := value.(type) {
	case float64:
		if d.kind == logNumber && v > 0 {
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

// equal reports whether two dimensions have the same values and coordinates.
func (d dimension) equal(other dimension) bool {
	return d.like(other) && d.low == other.low && d.high == other.high
}
