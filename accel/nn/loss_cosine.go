package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// CosineEmbedding returns the mean over the batch of 1 - cos(a, b) for pairs that belong
// together, and of max(0, cos(a, b) - margin) for others, a tensor of one element. a and b are
// [N, D]; same is [N], with 1 for pairs that belong together and -1 for others.
func CosineEmbedding(a, b, same *Tensor, margin float64) *Tensor {
	requireSameShape("CosineEmbedding", a, b)
	requireArgument(margin >= -1 && margin <= 1, "CosineEmbedding", fmt.Sprintf("the margin %v must be from -1 to 1", margin))
	if shape := a.Shape(); len(shape) != 2 || same.NDim() != 1 || same.Size(0) != shape[0] {
		panic(&tensor.ShapeError{Op: "CosineEmbedding", Shapes: [][]int{shape, b.Shape(), same.Shape()}, Hint: "a and b must be [N D], same must be [N]"})
	}
	dtype := a.DType()
	a, b, same = inFloat32(a), inFloat32(b), inFloat32(same)
	const epsilon = 1e-12 // as in PyTorch
	square := func(t *Tensor) *Tensor { return t.Square().Sum(-1).AddScalar(epsilon) }
	cos := a.Mul(b).Sum(-1).Div(square(a).Mul(square(b)).Sqrt())
	zero := constant(0, cos)
	together := tensor.Where(same.Eq(constant(1, same)), cos.Neg().AddScalar(1), zero)
	apart := tensor.Where(same.Eq(constant(-1, same)), cos.AddScalar(-margin).ReLU(), zero)
	return inType(together.Add(apart).Mean(), dtype)
}
