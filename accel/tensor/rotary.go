package tensor

import (
	"fmt"
	"math"
)

// RotaryEmbedding rotates pairs of elements of x [N, H, T, D] by angles that are proportional to the
// positions [T], so that products of rotated vectors depend on differences of positions (Su et al.,
// RoFormer, 2021). As in Llama, element i forms a pair with element i + D/2:
//
//	angle = position · base^(-2i/D)
//	yᵢ       = xᵢ·cos(angle) - xᵢ₊D/₂·sin(angle)
//	yᵢ₊D/₂ = xᵢ₊D/₂·cos(angle) + xᵢ·sin(angle)
func RotaryEmbedding(x, positions *Tensor, base float64) *Tensor {
	shape := x.Shape()
	if len(shape) != 4 || shape[3]%2 != 0 || positions.NDim() != 1 || positions.Size(0) != shape[2] || !(base > 0) {
		panic(&ShapeError{Op: "RotaryEmbedding", Shapes: [][]int{shape, positions.Shape()}, Hint: fmt.Sprintf("x must be [N, H, T, D] with an even D, the positions [T], and the base %g positive", base)})
	}
	half := shape[3] / 2
	frequencies := make([]float32, half)
	for i := range frequencies {
		frequencies[i] = float32(math.Pow(base, -float64(i)/float64(half)))
	}
	var made []*Tensor
	defer func() {
		for _, t := range made {
			t.Release()
		}
	}()
	keep := func(t *Tensor) *Tensor { made = append(made, t); return t }
	angles := keep(keep(keep(positions.Cast(Float32)).Reshape(shape[2], 1)).Mul(keep(New(frequencies, half))))
	cos, sin := keep(keep(angles.Cos()).Cast(x.DType())), keep(keep(angles.Sin()).Cast(x.DType()))
	first, second := keep(x.Slice(3, 0, half)), keep(x.Slice(3, half, 2*half))
	return Concat(3,
		keep(keep(first.Mul(cos)).Sub(keep(second.Mul(sin)))),
		keep(keep(second.Mul(cos)).Add(keep(first.Mul(sin)))))
}
