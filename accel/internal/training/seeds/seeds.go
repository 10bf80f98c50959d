// Package seeds summarizes results of the same computation with several seeds, and says of how many.
package seeds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/internal/quantity"
)

// Mean returns the mean of values and their sample standard deviation. The mean of equal values is
// that value, and their deviation 0. The deviation of a single value is NaN, and so are both of none.
func Mean(values []float64) (mean, deviation float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	// Rounding takes the mean of 0.1, 0.1 and 0.1 beyond all of them.
	mean = min(max(mean/n, slices.Min(values)), slices.Max(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / (n - 1))
}

// Of returns Mean of a measure of runs, one for each seed.
func Of[Run any](runs []Run, measure func(Run) float64) (mean, deviation float64) {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = measure(r)
	}
	return Mean(values)
}

// Text formats a mean with its deviation, unless that is NaN, both with a format such as "%.4f", and a unit: "0.1250 ± 0.0031".
// A mean that is not finite is "–".
func Text(format, unit string, mean, deviation float64) string {
	if math.Abs(mean) >= 1e6 {
		format = "%.4g" // instead of dozens of digits
	}
	switch {
	case math.IsNaN(mean) || math.IsInf(mean, 0):
		return "–"
	case math.IsNaN(deviation):
		return fmt.Sprintf(format, mean) + unit
	}
	return fmt.Sprintf(format+" ± "+format, mean, deviation) + unit
}

// Spread says what means and standard deviations are taken of: the names of the results and the
// number of seeds of each.
//
//	mean ± standard deviation of 3 seeds
//	mean ± standard deviation of 2 seeds (random), 1 seed (margin)
//	1 seed
//
// Results without a seed are left out.
func Spread[R any](results []R, seeds func(R) (name string, n int)) string {
	return text("mean ± standard deviation of ", results, seeds)
}

// Means is the same of means without deviations.
func Means[R any](results []R, seeds func(R) (name string, n int)) string {
	return text("mean of ", results, seeds)
}

func text[R any](statistic string, results []R, seeds func(R) (name string, n int)) string {
	of := map[int][]string{}
	var distinct []int
	for _, r := range results {
		name, n := seeds(r)
		if n == 0 {
			continue
		}
		if of[n] == nil {
			distinct = append(distinct, n)
		}
		of[n] = append(of[n], name)
	}
	slices.Sort(distinct)
	slices.Reverse(distinct)
	var parts []string
	for _, n := range distinct {
		part := quantity.Plural(n, "seed")
		if len(distinct) > 1 {
			part += " (" + strings.Join(of[n], ", ") + ")"
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 0:
		return "no seeds"
	case distinct[0] == 1:
		statistic = "" // a single value is not a mean
	}
	return statistic + strings.Join(parts, ", ")
}
