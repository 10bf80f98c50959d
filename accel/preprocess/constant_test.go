package preprocess_test

import (
	"testing"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/preprocess"
)

// A constant column becomes zeros, whatever its value and however many rows there are.
func TestConstantNumbersBecomeZeros(t *testing.T) {
	for _, v := range []float64{0.1, 3, 1e30, -1e-30, 0} {
		for _, n := range []int{1, 2, 3, 49, 1000} {
			x, kind := make([]float64, n), make([]string, n)
			for i := range x {
				x[i], kind[i] = v, []string{"a", "b"}[i%2]
			}
			f := frame.New(frame.Floats("x", x...), frame.Texts("kind", kind...))
			transform, err := preprocess.Fit(f, preprocess.Class("kind"), preprocess.Numbers("x"))
			if err != nil {
				t.Fatal(err)
			}
			set, err := transform.Dataset(f)
			if err != nil {
				t.Fatal(err)
			}
			all, err := set.Tensors()
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range all.X.Data() {
				if got != 0 {
					t.Errorf("%d times %v: row %d is %v", n, v, i, got)
					break
				}
			}
		}
	}
}
