package plots

import (
	"math"
	"testing"
)

// sweep returns a loss that falls fastest at 1e-3 and is lowest near 1e-1.
func sweep() (rates, losses []float64) {
	for i := range 81 {
		e := -6 + float64(i)*.075
		rates = append(rates, math.Pow(10, e))
		losses = append(losses, 2/(1+math.Exp(3*(e+3)))+math.Max(0, e+1)*5)
	}
	return rates, losses
}

func TestLRFinder(t *testing.T) {
	rates, losses := sweep()
	pinned(t, "lrfinder", LRFinder(rates, losses, 1e-3))
}

// The axis of an unfinished search has all learning rates that will be tried.
func TestLRFinderRange(t *testing.T) {
	rates, losses := sweep()
	f := LRFinder(rates[:5], losses[:5], math.NaN()).RangeX(1e-7, 10)
	found := map[string]bool{}
	for _, w := range writings(t, f) {
		found[w.label] = true
	}
	if !found["1e−6"] || !found["1"] {
		t.Errorf("texts: %v", found)
	}
}
