package loop

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

// TestBeta compares mean and variance with those of the distribution: 1/2 and 1/(4·(2a+1)).
func TestBeta(t *testing.T) {
	for _, a := range []float64{0.01, 0.2, 1, 4} {
		g := tensor.NewGenerator(9)
		const n = 40000
		sum, squares := 0.0, 0.0
		for range n {
			v := beta(g, a)
			if !(v >= 0 && v <= 1) {
				t.Fatalf("beta(%g) is %v", a, v)
			}
			sum += v
			squares += (v - 0.5) * (v - 0.5)
		}
		if mean := sum / n; math.Abs(mean-0.5) > 0.01 {
			t.Errorf("beta(%g): the mean is %v", a, mean)
		}
		want := 1 / (4 * (2*a + 1))
		if variance := squares / n; math.Abs(variance-want) > 0.02*want+0.002 {
			t.Errorf("beta(%g): the variance is %v, want %v", a, variance, want)
		}
	}
}
