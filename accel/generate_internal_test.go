package accel

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCandidates compares the selection of the most likely tokens with sorting.
func TestCandidates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		logits := make([]float32, 1+random.IntN(40))
		all := make([]int, len(logits))
		for i := range logits {
			logits[i], all[i] = float32(random.IntN(8)), i // with equal ones
		}
		k := 1 + random.IntN(len(logits))
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
		want := slices.Sorted(slices.Values(all[:k]))
		if got := (&generating{topK: k}).candidates(logits); !slices.Equal(got, want) {
			t.Fatalf("the %d most likely of %v: %v, want %v", k, logits, got, want)
		}
	}
}

// TestDrawNeedsProbabilities requires errors for logits that have no probabilities, of which no token could be drawn.
func TestDrawNeedsProbabilities(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, logits := range [][]float32{{nan, 1}, {1, nan}, {1, inf, 2}, {-inf, -inf}} {
		if token, err := (&generating{temperature: 1}).draw(logits); err == nil {
			t.Errorf("token %d is drawn of %v", token, logits)
		}
	}
	for _, g := range []generating{{temperature: 1}, {temperature: 1, topK: 2}, {}} {
		for range 20 {
			if token, err := g.draw([]float32{-inf, 3, -inf, -inf}); err != nil || token != 1 {
				t.Fatalf("token %d, %v, but 1 is the only possible one", token, err)
			}
		}
	}
}
