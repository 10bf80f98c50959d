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

// inMemoryOrder finds the order of the dimensions in which nothing is left out.
func TestInMemoryOrder(t *testing.T) {
	for _, row := range []struct {
		name string
		l    Layout
		want []int // the shape, nil for none
	}{
		{"row-major", RowMajor([]int{2, 3}), nil},
		{"transposed", Layout{Shape: []int{3, 2}, Stride: []int{1, 3}, Offset: 6}, []int{2, 3}},
		{"heads", Layout{Shape: []int{2, 4, 5, 3}, Stride: []int{60, 3, 12, 1}}, []int{2, 5, 4, 3}},
		{"with ones", Layout{Shape: []int{1, 3, 1, 2}, Stride: []int{77, 1, 1, 3}}, []int{1, 1, 2, 3}},
		{"a part of the columns", Layout{Shape: []int{3, 2}, Stride: []int{1, 4}}, nil},
		{"broadcast", Layout{Shape: []int{3, 2}, Stride: []int{1, 0}}, nil},
		{"empty", Layout{Shape: []int{3, 0}, Stride: []int{1, 3}}, nil},
	} {
		order, ok := row.l.inMemoryOrder()
		if ok != (row.want != nil) {
			t.Errorf("%s: ok is %v", row.name, ok)
			continue
		}
		if !ok {
			continue
		}
		lies := row.l.permuted(order)
		if !slices.Equal(lies.Shape, row.want) || !lies.Contiguous() || lies.Offset != row.l.Offset {
			t.Errorf("%s: lies as %+v, want %v", row.name, lies, row.want)
		}
		if again := lies.permuted(inverse(order)); !slices.Equal(again.Shape, row.l.Shape) || !slices.Equal(again.Stride, row.l.Stride) {
			t.Errorf("%s: back in order it is %+v", row.name, again)
		}
	}
}

// Reshape is a view if each new dimension has one stride.
func TestReshapeIsView(t *testing.T) {
	for _, row := range []struct {
		name  string
		in    Layout
		shape []int
		want  []int // strides, nil for a copy
	}{
		{"row-major", RowMajor([]int{2, 6}), []int{3, 4}, []int{4, 1}},
		{"split of a slice's rows", Layout{Shape: []int{2, 6}, Stride: []int{9, 1}, Offset: 3}, []int{2, 3, 2}, []int{9, 2, 1}},
		{"heads of a projection", Layout{Shape: []int{2, 5, 12}, Stride: []int{180, 36, 1}, Offset: 12}, []int{2, 5, 3, 4}, []int{180, 36, 4, 1}},
		{"both dimensions split", Layout{Shape: []int{4, 6}, Stride: []int{1, 4}}, []int{2, 2, 3, 2}, []int{2, 1, 8, 4}},
		{"rows that follow each other are merged", Layout{Shape: []int{2, 3, 4}, Stride: []int{30, 10, 1}}, []int{6, 4}, []int{10, 1}},
		{"merged and split elsewhere", Layout{Shape: []int{2, 3, 4}, Stride: []int{30, 10, 1}}, []int{3, 2, 4}, []int{20, 10, 1}},
		{"ones", Layout{Shape: []int{1, 4, 1, 3}, Stride: []int{7, 5, 9, 1}}, []int{4, 1, 3, 1}, []int{5, 0, 1, 0}},
		{"broadcast", RowMajor([]int{3}).BroadcastTo([]int{4, 3}), []int{2, 2, 3}, []int{0, 0, 1}},
		{"broadcast in the middle", Layout{Shape: []int{2, 3, 4}, Stride: []int{4, 0, 1}}, []int{6, 4}, nil},
		{"a scalar, broadcast", RowMajor([]int{}).BroadcastTo([]int{2, 3}), []int{3, 2}, []int{0, 0}},
		{"transposed and flattened", Layout{Shape: []int{3, 2}, Stride: []int{1, 3}}, []int{6}, nil},
		{"a dimension across a gap", Layout{Shape: []int{2, 6}, Stride: []int{9, 1}}, []int{3, 4}, nil},
		{"heads put together again", Layout{Shape: []int{2, 5, 3, 4}, Stride: []int{60, 4, 20, 1}}, []int{2, 5, 12}, nil},
		{"all ones", Layout{Shape: []int{1, 1}, Stride: []int{5, 7}}, []int{1}, []int{1}},
	} {
		got, ok := Reshape{Shape: row.shape}.view(row.in)
		if ok != (row.want != nil) || ok && (!slices.Equal(got.Stride, row.want) || !slices.Equal(got.Shape, row.shape) || got.Offset != row.in.Offset) {
			t.Errorf("%s: %+v, %v; want strides %v", row.name, got, ok, row.want)
		}
	}
}
