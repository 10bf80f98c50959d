package active

// Margin selects the examples whose two most likely classes are closest: the lowest p₁ - p₂
// (Scheffer and others, Active Hidden Markov Models for Information Extraction, 2001). In
// comparisons over many data sets it is hard to beat (Bahri and others, Is Margin All You
// Need?, 2022).
func Margin() Strategy {
	return scoreStrategy{"margin", func(p []float64) float64 {
		first, second := twoHighest(p)
		return p[second] - p[first]
	}}
}

// twoHighest returns the indices of the highest and the second-highest value; p has at least
// two.
func twoHighest(p []float64) (first, second int) {
	first, second = 0, 1
	if p[second] > p[first] {
		first, second = second, first
	}
	for k := 2; k < len(p); k++ {
		switch {
		case p[k] > p[first]:
			first, second = k, first
		case p[k] > p[second]:
			second = k
		}
	}
	return first, second
}
