package plots

import (
	"math"
	"testing"
)

func TestBar(t *testing.T) {
	pinned(t, "bar", Bar("Change", []string{"airplane", "a name that is long", "cat", "dog"}, []float64{3.5, -2, math.NaN(), 0}))
}
