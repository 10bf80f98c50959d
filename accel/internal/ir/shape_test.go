package ir

import (
	"slices"
	"testing"
)

func TestBroadcast(t *testing.T) {
	for _, row := range []struct{ a, b, want []int }{
		{[]int{}, []int{}, []int{}},
		{[]int{2, 3}, []int{3}, []int{2, 3}},
		{[]int{2, 1}, []int{1, 3}, []int{2, 3}},
		{[]int{1}, []int{0}, []int{0}},
		{[]int{4, 2, 1}, []int{5}, []int{4, 2, 5}},
		{[]int{2}, []int{3}, nil},
		{[]int{0}, []int{2}, nil},
	} {
		for _, swap := range []bool{false, true} {
			a, b := row.a, row.b
			if swap {
				a, b = b, a
			}
			got, ok := Broadcast(a, b)
			if ok != (row.want != nil) || ok && !slices.Equal(got, row.want) {
				t.Errorf("%v and %v: %v %v, want %v", a, b, got, ok, row.want)
			}
		}
	}
}

func TestLayouts(t *testing.T) {
	for _, row := range []struct {
		name       string
		l          Layout
		contiguous bool
		squeezed   []int
	}{
		{"row-major", RowMajor([]int{2, 3, 4}), true, []int{24}},
		{"scalar", RowMajor([]int{}), true, nil},
		{"ones", RowMajor([]int{1, 5, 1}), true, []int{5}},
		{"stride of a one", Layout{Shape: []int{1, 4}, Stride: []int{99, 1}}, true, []int{4}},
		{"transposed", Layout{Shape: []int{3, 2}, Stride: []int{1, 3}}, false, []int{3, 2}},
		{"sliced", Layout{Shape: []int{2, 3}, Stride: []int{5, 1}}, false, []int{2, 3}},
		{"broadcast", RowMajor([]int{3}).BroadcastTo([]int{2, 3}), false, []int{2, 3}},
		{"broadcast twice", RowMajor([]int{}).BroadcastTo([]int{2, 3}), false, []int{6}},
		{"empty", Layout{Shape: []int{3, 0}, Stride: []int{7, 7}}, true, []int{3, 0}},
	} {
		if got := row.l.Contiguous(); got != row.contiguous {
			t.Errorf("%s: contiguous %v", row.name, got)
		}
		if got := row.l.Squeeze().Shape; !slices.Equal(got, row.squeezed) {
			t.Errorf("%s: squeezed to %v, want %v", row.name, got, row.squeezed)
		}
	}
}
