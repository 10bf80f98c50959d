package cmp_test

import (
	standard "cmp"
	"math"
	"testing"

	"github.com/quernlab/quern/interp/generic/cmp"
)

func TestOrder(t *testing.T) {
	floats := []float64{math.NaN(), math.Inf(-1), -1.5, math.Copysign(0, -1), 0, 1.5, math.Inf(1)}
	for _, x := range floats {
		for _, y := range floats {
			same(t, x, y)
		}
	}
	for _, x := range []string{"", "a", "aa", "b", "é"} {
		for _, y := range []string{"", "a", "aa", "b", "é"} {
			same(t, x, y)
		}
	}
	for _, x := range []int8{-128, -1, 0, 1, 127} {
		for _, y := range []int8{-128, -1, 0, 1, 127} {
			same(t, x, y)
		}
	}
}

func same[T standard.Ordered](t *testing.T, x, y T) {
	t.Helper()
	if got, want := cmp.Compare(x, y), standard.Compare(x, y); got != want {
		t.Errorf("Compare(%v, %v) = %d, want %d", x, y, got, want)
	}
	if got, want := cmp.Less(x, y), standard.Less(x, y); got != want {
		t.Errorf("Less(%v, %v) = %v, want %v", x, y, got, want)
	}
}

func TestOr(t *testing.T) {
	for _, list := range [][]int{nil, {0}, {0, 0}, {3}, {0, 3, 4}, {3, 0}} {
		if got, want := cmp.Or(list...), standard.Or(list...); got != want {
			t.Errorf("Or(%v) = %d, want %d", list, got, want)
		}
	}
}
