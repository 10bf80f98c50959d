package nn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestEmbeddingOfFractions requires that floats which are no whole numbers are errors: an index that was rounded would be another token.
func TestEmbeddingOfFractions(t *testing.T) {
	for name, layer := range map[string]nn.Module{
		"Embedding":    nn.Embedding(5, 2),
		"EmbeddingBag": nn.EmbeddingBag(5, 2),
		"padding":      nn.EmbeddingBag(5, 2, nn.BagPadding(0)),
	} {
		ints := layer.Forward(tensor.FromInts([]int{0, 4, 1, 3}, 2, 2)).Data()
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16} {
			if got := layer.Forward(tensor.New([]float32{0, 4, 1, 3}, 2, 2).Cast(d)).Data(); !slices.Equal(got, ints) {
				t.Errorf("%s, %v: %v, but %v of integers", name, d, got, ints)
			}
		}
		for _, bad := range []float64{0.5, 3.999, -0.25, math.NaN(), math.Inf(1), math.Inf(-1), 1e20} {
			for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
				var err error
				func() {
					defer nn.Catch(&err)
					layer.Forward(tensor.FromFloat64s([]float64{0, 4, bad, 3}, 2, 2).Cast(d)).Data()
				}()
				var index *tensor.IndexError
				if want := "IndexSelect: the index (element 2) is not a whole number from 0 to 4"; !errors.As(err, &index) || err.Error() != want {
					t.Errorf("%s, %v %g: %v, want %s", name, d, bad, err, want)
				}
			}
		}
		if got := layer.Forward(tensor.FromInts([]int{0, 4, 1, 3}, 2, 2)).Data(); !slices.Equal(got, ints) {
			t.Errorf("%s: %v after the errors, %v before", name, got, ints)
		}
	}
}
