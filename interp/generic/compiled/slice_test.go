package compiled_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// TestKinds sorts, searches and compares a slice of each ordered kind.
func TestKinds(t *testing.T) {
	kinds := []any{
		[]int{3, 1, 2}, []int8{3, 1, 2}, []int16{3, 1, 2}, []int32{3, 1, 2}, []int64{3, 1, 2},
		[]uint{3, 1, 2}, []uint8{3, 1, 2}, []uint16{3, 1, 2}, []uint32{3, 1, 2}, []uint64{3, 1, 2}, []uintptr{3, 1, 2},
		[]float32{3, 1, 2}, []float64{3, 1, 2}, []string{"3", "1", "2"},
	}
	for _, kind := range kinds {
		v := reflect.ValueOf(kind)
		index := func(name string, got int, ok bool, want int) {
			if !ok || got != want {
				t.Errorf("%s of %v: %d, %v, want %d", name, v, got, ok, want)
			}
		}
		i, ok := compiled.Min(v)
		index("Min", i, ok, 1)
		i, ok = compiled.Max(v)
		index("Max", i, ok, 0)
		i, ok = compiled.Index(v, v.Slice(2, 3))
		index("Index", i, ok, 2)
		if sorted, ok := compiled.IsSorted(v); sorted || !ok {
			t.Errorf("%v is sorted: %v, %v", v, sorted, ok)
		}
		three, one := v.Index(0).Interface(), v.Index(1).Interface()
		if !compiled.Sort(v) || v.Index(0).Interface() != one || v.Index(2).Interface() != three {
			t.Errorf("sorted: %v", v)
		}
		if sorted, ok := compiled.IsSorted(v); !sorted || !ok {
			t.Errorf("%v is sorted: %v, %v", v, sorted, ok)
		}
		if equal, ok := compiled.Equal(v, v); !equal || !ok {
			t.Errorf("%v equals itself: %v, %v", v, equal, ok)
		}
		if equal, ok := compiled.Equal(v, v.Slice(0, 2)); equal || !ok {
			t.Errorf("%v equals its beginning: %v, %v", v, equal, ok)
		}
	}
}

// TestUnknown checks that other types are reported as not supported.
func TestUnknown(t *testing.T) {
	for _, other := range []any{[]bool{true}, []any{1}, []struct{}{{}}, [][]int{nil}, [1]int{}, 3, nil} {
		v := reflect.ValueOf(other)
		if compiled.Sort(v) {
			t.Errorf("sorted %v", v)
		}
		if _, ok := compiled.Index(v, v); ok {
			t.Errorf("searched %v", v)
		}
	}
	if _, ok := compiled.Equal(reflect.ValueOf([]int{1}), reflect.ValueOf([]int8{1})); ok {
		t.Error("compared []int with []int8")
	}
}

func TestReverse(t *testing.T) {
	for n := range 5 {
		s := make([]struct{ a, b int }, n)
		for i := range s {
			s[i].a = i
		}
		compiled.Reverse(reflect.ValueOf(s))
		if !slices.IsSortedFunc(s, func(a, b struct{ a, b int }) int { return b.a - a.a }) {
			t.Errorf("reversed: %v", s)
		}
	}
}
