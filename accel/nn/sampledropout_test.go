package nn

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

func TestDraw(t *testing.T) {
	model := Sequential(Dropout(0.5), Sequential(Dropout(0), Dropout(0.25)))
	x := tensor.Ones(3, 64)
	if n := SampleDropout(model, 7); n != 2 {
		t.Errorf("%d layers drop, want 2", n)
	}
	first := model.Forward(x).Data()
	if !slices.Equal(first[:64], first[64:128]) || !slices.Equal(first[:64], first[128:]) {
		t.Error("examples of a batch lose different elements")
	}
	if again := model.Forward(tensor.Ones(1, 64)).Data(); !slices.Equal(again, first[:64]) {
		t.Error("another batch loses different elements")
	}
	zeros := 0
	for _, v := range first[:64] {
		if v == 0 {
			zeros++
		} else if v != float32(2/0.75) {
			t.Fatalf("an element is %v", v)
		}
	}
	if zeros < 20 || zeros > 60 {
		t.Errorf("%d of 64 elements are dropped, 40 are expected", zeros)
	}
	SampleDropout(model, 8)
	if other := model.Forward(x).Data(); slices.Equal(other, first) {
		t.Error("another seed drops the same")
	}
	SampleDropout(model, 7)
	if again := model.Forward(x).Data(); !slices.Equal(again, first) {
		t.Error("the same seed drops something else")
	}
	Train(model, false)
	if got := model.Forward(x).Data(); slices.Contains(got, 0) {
		t.Error("evaluation drops")
	}
	Train(model, true)
	if a, b := model.Forward(x).Data(), model.Forward(x).Data(); slices.Equal(a, b) {
		t.Error("training drops the same twice")
	}
	SampleDropout(Sequential(Dropout(1)), 1)
	all := Sequential(Dropout(1))
	SampleDropout(all, 1)
	if got := all.Forward(x).Data(); slices.Max(got) != 0 {
		t.Error("Dropout(1) keeps something")
	}
}
