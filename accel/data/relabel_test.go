package data

import (
	"slices"
	"testing"
)

func TestWithLabelsAndAppend(t *testing.T) {
	set, err := FromSlices([][]float32{{0, 1}, {2, 3}, {4, 5}}, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	some, err := set.Subset([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	other, err := some.WithLabels([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	doubled, err := other.Map(Normalize(0, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	all, err := doubled.Append([][]float32{{6, 7}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Example(2); !slices.Equal(got, []float32{6, 7}) {
		t.Errorf("the example appended is %v", got)
	}
	b, err := all.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.X.Data(), []float32{8, 10, 0, 2, 12, 14}; !slices.Equal(got, want) {
		t.Errorf("the batch is %v, want %v", got, want)
	}
	if got, want := b.Y.Ints(), []int{1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("the labels are %v, want %v", got, want)
	}
	if got := set.Label(2); got != 2 {
		t.Errorf("the set itself has now the label %d", got)
	}
	if got := all.First(1).Label(0); got != 1 {
		t.Errorf("the first label of a part is %d", got)
	}
}

func TestWithLabelsAndAppendRefuse(t *testing.T) {
	set, _ := FromSlices([][]float32{{0, 1}, {2, 3}}, []int{0, 1})
	targets, _ := FromTargets([][]float32{{0, 1}}, [][]float32{{1}})
	for name, f := range map[string]func() error{
		"too few labels":    func() error { _, err := set.WithLabels([]int{0}); return err },
		"label too large":   func() error { _, err := set.WithLabels([]int{0, 2}); return err },
		"label below 0":     func() error { _, err := set.WithLabels([]int{0, -1}); return err },
		"targets":           func() error { _, err := targets.WithLabels([]int{0}); return err },
		"ragged":            func() error { _, err := set.Append([][]float32{{1}}, []int{0}); return err },
		"label missing":     func() error { _, err := set.Append([][]float32{{1, 2}}, nil); return err },
		"appended label":    func() error { _, err := set.Append([][]float32{{1, 2}}, []int{7}); return err },
		"append to targets": func() error { _, err := targets.Append([][]float32{{1, 2}}, []int{0}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
