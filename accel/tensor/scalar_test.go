package tensor

import (
	"slices"
	"testing"
)

// TestCompareWithScalar compares tensors of each type with numbers that their type does not have.
func TestCompareWithScalar(t *testing.T) {
	const large = 1<<24 + 1 // not a float32
	for _, tt := range []struct {
		name string
		got  *Tensor
		want []float32
	}{
		{"float32 rounds the number", New([]float32{0.1, 0.2}, 2).EqScalar(0.1), []float32{1, 0}},
		{"float64", FromFloat64s([]float64{0.1, 0.1 + 1e-12}, 2).GreaterScalar(0.1), []float32{0, 1}},
		{"int32", FromInts([]int{large - 1, large}, 2).EqScalar(large), []float32{0, 1}},
		{"fraction", FromInts([]int{2, 3}, 2).GreaterScalar(2.5), []float32{0, 1}},
		{"negative fraction", FromInts([]int{-3, -2}, 2).LessScalar(-2.5), []float32{1, 0}},
		{"bytes below 0", FromBytes([]byte{0, 255}, 2).GreaterScalar(-1), []float32{1, 1}},
		{"bytes above 255", FromBytes([]byte{0, 255}, 2).LessScalar(256), []float32{1, 1}},
		{"int64", FromInts([]int{-100, 3}, 2).Cast(Int64).EqScalar(-100), []float32{1, 0}},
		{"bool", New([]float32{0, 2}, 2).Cast(Bool).EqScalar(1), []float32{0, 1}},
	} {
		if got := tt.got.Data(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
