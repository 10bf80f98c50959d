// Package count counts equal values.
package count

import (
	"cmp"
	"slices"
)

// Of is a value and how often it occurs.
type Of[T cmp.Ordered] struct {
	Value T
	N     int
}

// All counts the values. The result begins with the most frequent one; values of the same
// frequency are in ascending order.
func All[T cmp.Ordered](values []T) []Of[T] {
	counts := map[T]int{}
	for _, v := range values {
		counts[v]++
	}
	all := make([]Of[T], 0, len(counts))
	for v, n := range counts {
		all = append(all, Of[T]{v, n})
	}
	slices.SortFunc(all, func(a, b Of[T]) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value))
	})
	return all
}
