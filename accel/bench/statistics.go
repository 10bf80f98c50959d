package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// times is the seconds per step over all rounds.
type times struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // first quartile
	High   float64 `json:"high"` // third quartile
	Best   float64 `json:"best"`
}

func newTimes(seconds []float64) times {
	s := slices.Sorted(slices.Values(seconds))
	return times{Median: quantile(s, 0.5), Low: quantile(s, 0.25), High: quantile(s, 0.75), Best: s[0]}
}

// quantile returns a quantile of sorted numbers by linear interpolation.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// isQuern reports whether a key of a result is of a runner of Quern.
func isQuern(key string) bool { return strings.HasPrefix(key, "quern") }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
