package data

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

func TestFromTensors(t *testing.T) {
	images := tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 1, 2, 2)
	s, err := FromTensors(images, tensor.FromInts([]int{2, 0}, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Shape(), []int{1, 2, 2}) || len(s.Classes()) != 3 || s.Label(0) != 2 || !slices.Equal(s.Example(1), []float32{4, 5, 6, 7}) {
		t.Errorf("got %v: %v of class %d", s, s.Example(1), s.Label(0))
	}
	r, err := FromTensors(tensor.New([]float32{1, 2}, 2), tensor.New([]float32{3, 4, 5, 6}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Shape(), []int{1}) || !slices.Equal(r.Target(1), []float32{5, 6}) {
		t.Errorf("got %v with target %v", r, r.Target(1))
	}
	for name, tt := range map[string]struct {
		x, y *tensor.Tensor
		want string
	}{
		"nil":          {images, nil, "a tensor is nil"},
		"other length": {images, tensor.FromInts([]int{1}, 1), "shape [2 1 2 2] and [1]"},
		"scalar":       {tensor.Zeros(), tensor.Zeros(), "first dimension"},
		"empty":        {tensor.Zeros(2, 0), tensor.Zeros(2, 1), "have no elements"},
		"flat targets": {images, tensor.Zeros(2), "float32 labels of shape [2]"},
		"negative":     {images, tensor.FromInts([]int{0, -1}, 2), "label -1 of example 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := FromTensors(tt.x, tt.y); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error with %q, got %v", tt.want, err)
			}
		})
	}
}
