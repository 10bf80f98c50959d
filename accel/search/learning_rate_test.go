package search

import (
	"math"
	"testing"
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
