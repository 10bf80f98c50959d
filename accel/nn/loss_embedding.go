package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// TripletMargin returns the mean over the batch of max(0, d(a, p) - d(a, n) + margin), a tensor
// of one element, where d is the Euclidean distance along the last dimension (Schroff et al.,
// 2015). Training with it moves embeddings of the same class together: a is an anchor, p an
// example of its class, and n one of another class. All three have the same shape.
func TripletMargin(anchor, positive, negative *Tensor, margin float64) *Tensor {
	requireSameShape("TripletMargin", anchor, positive, negative)
	requireArgument(anchor.NDim() > 0, "TripletMargin", "the tensors need a dimension of features")
	requireArgument(margin > 0, "TripletMargin", fmt.Sprintf("the margin %v must be positive", margin))
	dtype := anchor.DType()
	anchor, positive, negative = inFloat32(anchor), inFloat32(positive), inFloat32(negative)
	const epsilon = 1e-6 // as in PyTorch
	distance := func(other *Tensor) *Tensor { return anchor.Sub(other).AddScalar(epsilon).Norm(-1) }
	return inType(distance(positive).Sub(distance(negative)).AddScalar(margin).ReLU().Mean(), dtype)
}

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

// BatchHardTriplet returns a loss for embeddings [N, D] and their classes [N], for which no triplets need to be
// chosen: for each example of the batch, max(0, d⁺ - d⁻ + margin), where d⁺ is the distance to the farthest other
// example of its class and d⁻ that to the nearest one of another class (Hermans, Beyer and Leibe, In Defense of the
// Triplet Loss for Person Re-Identification, 2017). It is the mean over the examples that have both, and 0 if none
// has. Distances are Euclidean; embeddings are mostly normalized ([tensor.Tensor.Normalize]). Batches need several
// examples of each class.
func BatchHardTriplet(margin float64) Loss {
	requireArgument(margin > 0, "BatchHardTriplet", fmt.Sprintf("the margin %v must be positive", margin))
	return func(embeddings, classes *Tensor) *Tensor {
		x, y := embeddings.Shape(), classes.Shape()
		if len(x) != 2 || len(y) != 1 || x[0] != y[0] || x[0] == 0 {
			panic(&tensor.ShapeError{Op: "BatchHardTriplet", Shapes: [][]int{x, y}, Hint: "embeddings must be [N D] and classes [N], with at least one example"})
		}
		rows := inFloat32(embeddings)
		distances := tensor.CDist(rows, rows)
		same := classes.Unsqueeze(1).Eq(classes.Unsqueeze(0))
		others := same.Mul(tensor.Eye(x[0]).Neg().AddScalar(1)) // of the same class, without the example itself
		far := distances.MaskedFill(others.Not(), math.Inf(-1)).Max(1)
		near := distances.MaskedFill(same, math.Inf(1)).Min(1)
		both := others.Any(1).Mul(same.Not().Any(1))
		each := far.Sub(near).AddScalar(margin).ReLU().MaskedFill(both.Not(), 0)
		return inType(each.Sum().Div(inType(both.Sum().Maximum(tensor.Ones()), each.DType())), embeddings.DType())
	}
}

// Distillation returns a loss of a student's logits [N, C] for those of its teacher, T²·KL(softmax(teacher/T) ‖
// softmax(student/T)), the mean over the batch (Hinton, Vinyals and Dean, Distilling the Knowledge in a Neural
// Network, 2015). The temperature T, mostly 2 to 5, shows what the teacher knows of classes that it rejects. The
// factor T² keeps the gradients as large as those of [CrossEntropy], to which it is often added. No gradient
// flows into the teacher.
func Distillation(temperature float64) Loss {
	requireArgument(temperature > 0 && !math.IsInf(temperature, 1), "Distillation", fmt.Sprintf("the temperature %v must be positive", temperature))
	return func(student, teacher *Tensor) *Tensor {
		requireSameShape("Distillation", student, teacher)
		if shape := student.Shape(); len(shape) < 2 || student.Numel() == 0 {
			panic(&tensor.ShapeError{Op: "Distillation", Shapes: [][]int{shape}, Hint: "the logits must be [N C], with at least one example"})
		}
		soft := func(t *Tensor) *Tensor { return inFloat32(t).MulScalar(1 / temperature).LogSoftmax(-1) }
		wanted := soft(teacher.Detach())
		each := wanted.Exp().Mul(wanted.Sub(soft(student))).Sum(-1)
		return inType(each.Mean().MulScalar(temperature*temperature), student.DType())
	}
}
