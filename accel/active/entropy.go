package active

import "math"

// Entropy chooses the examples with the highest entropy, -Σ p ln p (Shannon,
// 1948; for this use Dagan and Engelson, 1995). With many classes it likes
// examples between many of them; with few labels it can do worse than chance.
func Entropy() Strategy { return measured{"entropy", entropy} }

// entropy is -Σ p ln p, in nats.
func entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= v * math.Log(v)
		}
	}
	return sum
}
