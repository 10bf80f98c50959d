package nn

import "fmt"

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
