package slices

import (
	"cmp"
	"reflect"
	"sort"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Sort sorts in ascending order, NaN first.
func Sort[S ~[]E, E cmp.Ordered](x S) {
	if len(x) > 1 && !compiled.Sort(reflect.ValueOf(x)) {
		sort.Slice(x, func(i, j int) bool { return cmp.Less(x[i], x[j]) })
	}
}

// SortFunc sorts in the order of cmp. It uses package sort, which makes the same comparisons as the standard package slices, so
// equal elements get the same order.
func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	if !compiled.SortFunc(x, cmp) {
		sort.Slice(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
	}
}

// SortStableFunc sorts in the order of cmp and keeps the order of equal elements.
func SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	if !compiled.SortStableFunc(x, cmp) {
		sort.SliceStable(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
	}
}

// IsSorted reports whether the slice is in ascending order.
func IsSorted[S ~[]E, E cmp.Ordered](x S) bool {
	if len(x) > few {
		if sorted, ok := compiled.IsSorted(reflect.ValueOf(x)); ok {
			return sorted
		}
	}
	for i := 1; i < len(x); i++ {
		if cmp.Less(x[i], x[i-1]) {
			return false
		}
	}
	return true
}

// IsSortedFunc reports whether the slice is in the order of cmp.
func IsSortedFunc[S ~[]E, E any](x S, cmp func(a, b E) int) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp(x[i], x[i-1]) < 0 {
			return false
		}
	}
	return true
}

// Min returns the least element, NaN if there is one. It panics if there is no element.
func Min[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Min: empty list")
	}
	if len(x) > few {
		if i, ok := compiled.Min(reflect.ValueOf(x)); ok {
			return x[i]
		}
	}
	least := x[0]
	for i := 1; i < len(x); i++ {
		least = min(least, x[i])
	}
	return least
}

// MinFunc returns the first least element in the order of cmp. It panics if there is no element.
func MinFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MinFunc: empty list")
	}
	least := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], least) < 0 {
			least = x[i]
		}
	}
	return least
}

// Max returns the greatest element, NaN if there is one. It panics if there is no element.
func Max[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Max: empty list")
	}
	if len(x) > few {
		if i, ok := compiled.Max(reflect.ValueOf(x)); ok {
			return x[i]
		}
	}
	greatest := x[0]
	for i := 1; i < len(x); i++ {
		greatest = max(greatest, x[i])
	}
	return greatest
}

// MaxFunc returns the first greatest element in the order of cmp. It panics if there is no element.
func MaxFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MaxFunc: empty list")
	}
	greatest := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], greatest) > 0 {
			greatest = x[i]
		}
	}
	return greatest
}

// BinarySearch returns the index at which target is, or would be inserted, in a slice in ascending order, and whether it is
// there.
func BinarySearch[S ~[]E, E cmp.Ordered](x S, target E) (int, bool) {
	low, high := 0, len(x)
	for low < high {
		middle := low + (high-low)/2
		if cmp.Less(x[middle], target) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(x) && cmp.Compare(x[low], target) == 0
}

// BinarySearchFunc returns the index at which target is, or would be inserted, in a slice in the order of cmp, and whether it
// is there.
func BinarySearchFunc[S ~[]E, E, T any](x S, target T, cmp func(E, T) int) (int, bool) {
	low, high := 0, len(x)
	for low < high {
		middle := low + (high-low)/2
		if cmp(x[middle], target) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(x) && cmp(x[low], target) == 0
}
