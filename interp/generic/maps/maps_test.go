package maps_test

import (
	"iter"
	standard "maps"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/generic/maps"
)

var examples = []map[string]int{nil, {}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}}

func TestEqual(t *testing.T) {
	half := func(a, b int) bool { return a/2 == b/2 }
	for _, a := range examples {
		for _, b := range examples {
			if got, want := maps.Equal(a, b), standard.Equal(a, b); got != want {
				t.Errorf("Equal(%v, %v) = %v, want %v", a, b, got, want)
			}
			if got, want := maps.EqualFunc(a, b, half), standard.EqualFunc(a, b, half); got != want {
				t.Errorf("EqualFunc(%v, %v) = %v, want %v", a, b, got, want)
			}
		}
	}
	nan := map[float64]int{math.NaN(): 1}
	if maps.Equal(nan, nan) || maps.EqualFunc(nan, nan, func(a, b int) bool { return true }) {
		t.Error("maps with a NaN key are equal")
	}
}

func TestClone(t *testing.T) {
	for _, m := range examples {
		clone := maps.Clone(m)
		if !standard.Equal(clone, m) || (clone == nil) != (m == nil) {
			t.Errorf("Clone(%#v) = %#v", m, clone)
		}
		if clone != nil {
			clone["new"] = 1
			if _, ok := m["new"]; ok {
				t.Error("a change of the clone shows in the map")
			}
		}
	}
	if n := len(maps.Clone(map[float64]int{math.NaN(): 1, 1: 2})); n != 2 {
		t.Errorf("clone has %d entries, want 2", n)
	}
}

func TestChange(t *testing.T) {
	odd := func(_ string, v int) bool { return v%2 == 1 }
	for _, a := range examples[1:] {
		got, want := standard.Clone(a), standard.Clone(a)
		maps.DeleteFunc(got, odd)
		standard.DeleteFunc(want, odd)
		if !standard.Equal(got, want) {
			t.Errorf("DeleteFunc(%v) = %v, want %v", a, got, want)
		}
		for _, b := range examples {
			want := standard.Clone(a)
			standard.Copy(want, b)
			got := standard.Clone(a)
			maps.Copy(got, b)
			if !standard.Equal(got, want) {
				t.Errorf("Copy(%v, %v) = %v, want %v", a, b, got, want)
			}
			got = standard.Clone(a)
			maps.Insert(got, standard.All(b))
			if !standard.Equal(got, want) {
				t.Errorf("Insert(%v, %v) = %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestIterate(t *testing.T) {
	for _, m := range examples {
		if got, want := sorted(maps.Keys(m)), sorted(standard.Keys(m)); !slices.Equal(got, want) {
			t.Errorf("Keys(%v) = %v, want %v", m, got, want)
		}
		if got, want := sorted(maps.Values(m)), sorted(standard.Values(m)); !slices.Equal(got, want) {
			t.Errorf("Values(%v) = %v, want %v", m, got, want)
		}
		got := maps.Collect(maps.All(m))
		if !standard.Equal(got, m) || got == nil {
			t.Errorf("Collect(All(%v)) = %#v", m, got)
		}
		for range maps.All(m) {
			break
		}
		for range maps.Keys(m) {
			break
		}
		for range maps.Values(m) {
			break
		}
	}
}

func sorted[E int | string](seq iter.Seq[E]) []E { return slices.Sorted(seq) }
