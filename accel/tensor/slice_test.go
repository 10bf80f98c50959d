package tensor

import "testing"

// TestGradientOfSlices slices a value in any order, with gaps, repeatedly and with overlaps; each
// element's gradient is the sum of its weights.
func TestGradientOfSlices(t *testing.T) {
	for _, parts := range [][][2]int{
		{{0, 2}, {2, 5}, {5, 6}}, {{5, 6}, {2, 5}, {0, 2}}, {{2, 5}, {0, 2}}, {{0, 2}, {4, 6}}, {{0, 4}, {2, 6}}, {{0, 3}, {0, 3}, {3, 6}}, {{1, 2}, {2, 3}}, {{0, 0}, {0, 6}},
	} {
		for axis, shape := range [][]int{{6, 2, 3}, {2, 6, 3}, {3, 2, 6}} {
			x := Parameter(Ones(shape...))
			want := make([]float32, 36)
			var sum *Tensor
			for i, p := range parts {
				part := x.Slice(axis, p[0], p[1]).MulScalar(float64(i + 1)).Sum()
				if sum == nil {
					sum = part
				} else {
					sum = sum.Add(part)
				}
				inner := 1
				for _, d := range shape[axis+1:] {
					inner *= d
				}
				for at := range want {
					if k := at / inner % 6; k >= p[0] && k < p[1] {
						want[at] += float32(i + 1)
					}
				}
			}
			sum.Backward()
			for at, g := range x.Grad().Data() {
				if g != want[at] {
					t.Fatalf("parts %v of axis %d: gradient %d is %v, want %v", parts, axis, at, g, want[at])
				}
			}
		}
	}
}
