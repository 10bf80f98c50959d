package accel

import (
	"cmp"
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
