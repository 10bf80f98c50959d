package search

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/history"
)

func TestSuggestion(t *testing.T) {
	var rates, falling, rising []float64 // the loss falls fastest at 1e-3 and is lowest near 1e-1
	for i := range 81 {
		e := -6 + float64(i)*.075
		rates = append(rates, math.Pow(10, e))
		falling = append(falling, 2/(1+math.Exp(3*(e+3)))+math.Max(0, e+1)*5)
		rising = append(rising, float64(i))
	}
	for _, row := range []struct {
		name   string
		losses []float64
		want   float64 // exponent
	}{
		{"falling", falling, -3},
		{"rising", rising, math.NaN()},
		{"a single loss", falling[:1], math.NaN()},
		{"none", nil, math.NaN()},
	} {
		got := math.Log10(suggestion(rates[:len(row.losses)], row.losses))
		if math.IsNaN(got) != math.IsNaN(row.want) || math.Abs(got-row.want) > .15 {
			t.Errorf("%s: 10^%v, want 10^%v", row.name, got, row.want)
		}
	}
}

// TestRisen requires the search to go on while the losses of batches differ by a large factor at any rate, and to end soon after the
// loss rises beyond that.
func TestRisen(t *testing.T) {
	var steps []history.Step
	add := func(n int, loss func(i int) float64) {
		for i := range n {
			steps = append(steps, history.Step{Loss: loss(i)})
		}
	}
	add(60, func(i int) float64 { return []float64{1, 0.5, 5, 1, 2}[i%5] })
	for n := range len(steps) {
		if risen(steps[:n+1]) {
			t.Fatalf("the search ends after %d of losses from 0.5 to 5", n+1)
		}
	}
	add(10, func(i int) float64 { return math.Exp2(float64(i)) })
	if !risen(steps) {
		t.Error("the search goes on although the loss has risen to 512")
	}
	for n := range 11 {
		if risen([]history.Step{{Loss: 1}, {Loss: 100}, {Loss: 1e4}, {Loss: 1e6}, {Loss: 1}, {Loss: 1}, {Loss: 1}, {Loss: 1}, {Loss: 1}, {Loss: 1}, {Loss: 1}}[:n]) {
			t.Errorf("the search ends after %d steps", n)
		}
	}
}
