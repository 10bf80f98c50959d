package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

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
