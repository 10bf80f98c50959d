// Package seeds summarizes results of the same computation with several seeds, and says of how many.
package seeds

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// Spread says what means and standard deviations are taken of: the names of the results and the
// number of seeds of each.
//
//	mean ± standard deviation of 3 seeds
//	mean ± standard deviation of 2 seeds (random), 1 seed (margin)
//	1 seed
//
// Results without a seed are left out.
func Spread(names []string, counts []int) string {
	return text("mean ± standard deviation of ", names, counts)
}

// Means is the same of means without deviations.
func Means(names []string, counts []int) string { return text("mean of ", names, counts) }

func text(statistic string, names []string, counts []int) string {
	of := map[int][]string{}
	var distinct []int
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if of[n] == nil {
			distinct = append(distinct, n)
		}
		of[n] = append(of[n], names[i])
	}
	slices.Sort(distinct)
	slices.Reverse(distinct)
	var parts []string
	for _, n := range distinct {
		part := fmt.Sprintf("%d seeds", n)
		if n == 1 {
			part = "1 seed"
		}
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
