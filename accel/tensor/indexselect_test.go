package tensor

import (
	"slices"
	"testing"
)

// TestIndicesOfAnyType selects rows with each index type and checks that an index out of range is
// an error, also if its lower 32 bits are in range.
func TestIndicesOfAnyType(t *testing.T) {
	x := New([]float32{10, 11, 12}, 3)
	for _, d := range []DType{Int32, Int64, Uint8} {
		for _, known := range []bool{true, false} {
			index := func(v ...float32) *Tensor {
				i := New(v, len(v)).Cast(d)
				if known {
					i.Ints()
				}
				return i
			}
			if got := x.IndexSelect(index(2, 0, 2)).Data(); !slices.Equal(got, []float32{12, 10, 12}) {
				t.Errorf("%v: rows %v", d, got)
			}
			if got := x.IndexAdd(index(1, 1, 0), 2).Data(); !slices.Equal(got, []float32{12, 21}) {
				t.Errorf("%v: sums %v", d, got)
			}
			if got := index(1, 0).OneHot(2).Data(); !slices.Equal(got, []float32{0, 1, 1, 0}) {
				t.Errorf("%v: one-hot %v", d, got)
			}
			outside := []float32{3}
			if d == Int64 {
				outside = append(outside, -1, 1<<32, 1<<32+1, -1<<32, 1<<62)
			}
			for _, v := range outside {
				for name, f := range map[string]func(){
					"IndexSelect":  func() { x.IndexSelect(index(v)).Data() },
					"OneHot":       func() { index(v).OneHot(3).Data() },
					"IndexAdd":     func() { Ones(1).IndexAdd(index(v), 3).Data() },
					"CrossEntropy": func() { CrossEntropy(Zeros(1, 3), index(v)).Data() },
					"Embedding":    func() { Embedding(Zeros(3, 2), index(v)).Data() },
				} {
					err := catch(f)
					bad, ok := err.(*IndexError)
					if !ok || bad.Index != int(v) || bad.Size != 3 || (bad.Op != name && name != "Embedding") {
						t.Errorf("%s of %v as %v, known %v: %v", name, v, d, known, err)
					}
				}
			}
		}
	}
}
