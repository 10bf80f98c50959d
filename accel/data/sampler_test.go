package data_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func TestHardExampleWeights(t *testing.T) {
	for name, c := range map[string]struct {
		losses  []float64
		uniform float64
		want    []float64
	}{
		"losses":      {[]float64{1, 3, 0}, 0, []float64{0.25, 0.75, 0}},
		"mixed":       {[]float64{1, 3, 0, 0}, 0.5, []float64{0.25, 0.5, 0.125, 0.125}},
		"uniform":     {[]float64{1, 3}, 1, []float64{0.5, 0.5}},
		"all zero":    {[]float64{0, 0}, 0.1, []float64{0.5, 0.5}},
		"equal":       {[]float64{2, 2}, 0.3, []float64{0.5, 0.5}},
		"one":         {[]float64{7}, 0, []float64{1}},
		"none":        {nil, 0.5, nil},
		"large":       {[]float64{math.MaxFloat64, math.MaxFloat64}, 0, []float64{0.5, 0.5}},
		"denormal":    {[]float64{math.SmallestNonzeroFloat64, 0}, 0, []float64{1, 0}},
		"very hard":   {[]float64{1e300, 1e-300}, 0.5, []float64{0.75, 0.25}},
		"NaN":         {[]float64{1, math.NaN()}, 0, nil},
		"infinite":    {[]float64{1, math.Inf(1)}, 0, nil},
		"negative":    {[]float64{-1}, 0, nil},
		"share":       {[]float64{1}, 1.1, nil},
		"share below": {[]float64{1}, -0.1, nil},
		"share NaN":   {[]float64{1}, math.NaN(), nil},
	} {
		got, err := data.HardExampleWeights(c.losses, c.uniform)
		if (err == nil) != (c.want != nil || len(c.losses) == 0) || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i, w := range c.want {
			if math.Abs(got[i]-w) > 1e-12 {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	}
}

// The third example has half of all the losses; a tenth of the draws does not look at losses.
func ExampleHardExampleWeights() {
	weights, err := data.HardExampleWeights([]float64{1, 1, 4, 2}, 0.1)
	fmt.Printf("%.3f %v\n", weights, err)
	// Output: [0.138 0.138 0.475 0.250] <nil>
}
