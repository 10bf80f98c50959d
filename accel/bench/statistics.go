package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	interleaved "github.com/quernlab/quern/accel/internal/training/compare"
)

// times is the seconds per step over all rounds.
type times struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // first quartile
	High   float64 `json:"high"` // third quartile
	Best   float64 `json:"best"`
}

func newTimes(seconds []float64) times {
	s := interleaved.Times(seconds)
	return times{Median: s.Median(), Low: s.Quantile(0.25), High: s.Quantile(0.75), Best: slices.Min(seconds)}
}

// isQuern reports whether a key of a result is of a runner of Quern.
func isQuern(key string) bool { return strings.HasPrefix(key, "quern") }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
