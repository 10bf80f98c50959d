// Package slices implements the standard package slices for interpreted code.
package slices

import (
	"cmp"
	"reflect"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// few is the length up to which an interpreted loop is faster than a call of package compiled.
const few = 8

// Equal reports whether two slices have the same length and equal elements; a NaN equals nothing.
func Equal[S ~[]E, E comparable](s1, s2 S) bool {
	if len(s1) != len(s2) {
		return false
	}
	if len(s1) > few {
		if equal, ok := compiled.Equal(reflect.ValueOf(s1), reflect.ValueOf(s2)); ok {
			return equal
		}
	}
	for i := range s1 {
		if s1[i] != s2[i] {
			return false
		}
	}
	return true
}

// EqualFunc is Equal with a function that compares elements.
func EqualFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, eq func(E1, E2) bool) bool {
	if len(s1) != len(s2) {
		return false
	}
	for i, v1 := range s1 {
		if !eq(v1, s2[i]) {
			return false
		}
	}
	return true
}

// Compare compares the elements in order by cmp.Compare. A slice is greater than a prefix of it.
func Compare[S ~[]E, E cmp.Ordered](s1, s2 S) int {
	for i, v1 := range s1 {
		if i >= len(s2) {
			return +1
		}
		if c := cmp.Compare(v1, s2[i]); c != 0 {
			return c
		}
	}
	if len(s1) < len(s2) {
		return -1
	}
	return 0
}

// CompareFunc is Compare with a function that compares elements.
func CompareFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, cmp func(E1, E2) int) int {
	for i, v1 := range s1 {
		if i >= len(s2) {
			return +1
		}
		if c := cmp(v1, s2[i]); c != 0 {
			return c
		}
	}
	if len(s1) < len(s2) {
		return -1
	}
	return 0
}

// Index returns the index of the first v, or -1.
func Index[S ~[]E, E comparable](s S, v E) int {
	if len(s) > few {
		if index, ok := compiled.Index(reflect.ValueOf(s), reflect.ValueOf([]E{v})); ok {
			return index
		}
	}
	for i := range s {
		if s[i] == v {
			return i
		}
	}
	return -1
}

// IndexFunc returns the index of the first element for which f returns true, or -1.
func IndexFunc[S ~[]E, E any](s S, f func(E) bool) int {
	for i := range s {
		if f(s[i]) {
			return i
		}
	}
	return -1
}

// Contains reports whether v is in s.
func Contains[S ~[]E, E comparable](s S, v E) bool {
	return Index(s, v) >= 0
}

// ContainsFunc reports whether f returns true for an element of s.
func ContainsFunc[S ~[]E, E any](s S, f func(E) bool) bool {
	return IndexFunc(s, f) >= 0
}

// Reverse reverses the elements in place.
func Reverse[S ~[]E, E any](s S) {
	if len(s) > few {
		compiled.Reverse(reflect.ValueOf(s))
		return
	}
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Compact keeps the first of each run of equal elements and zeroes the obsolete elements at the end.
func Compact[S ~[]E, E comparable](s S) S {
	if len(s) < 2 {
		return s
	}
	kept := 1
	for i := 1; i < len(s); i++ {
		if s[i] != s[i-1] {
			if i != kept {
				s[kept] = s[i]
			}
			kept++
		}
	}
	clear(s[kept:])
	return s[:kept]
}

// CompactFunc is Compact with a function that compares elements.
func CompactFunc[S ~[]E, E any](s S, eq func(E, E) bool) S {
	if len(s) < 2 {
		return s
	}
	kept := 1
	for i := 1; i < len(s); i++ {
		if !eq(s[i], s[i-1]) {
			if i != kept {
				s[kept] = s[i]
			}
			kept++
		}
	}
	clear(s[kept:])
	return s[:kept]
}
