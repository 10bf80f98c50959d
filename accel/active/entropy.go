package active

import "math"

// Entropy selects the examples with the highest entropy, -Σ p ln p (Shannon, 1948; for active
// learning Dagan and Engelson, 1995). With many classes it prefers examples between many of
// them; with few labels it can be worse than random.
func Entropy() Strategy { return scoreStrategy{"entropy", entropy} }

// entropy returns -Σ p ln p in nats.
func entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= v * math.Log(v)
		}
	}
	return sum
}
