package tensor

// WithPositions runs f, a pass of a model, with rows in which several sequences are packed one after the
// other. positions [N, T], of type int32, has the position of each token in its sequence: it restarts at
// 0 where a sequence begins. Layers that attend keep the sequences apart, and those that know positions
// use these. In f, [Attention], [MaskedAttention] and [AttentionWeights] panic with a *StateError without
// a Mask or a Bias, since they would attend to other sequences.
func WithPositions(positions *Tensor, f func()) {
	if positions != nil && (positions.NDim() != 2 || positions.DType() != Int32) {
		panic(&ShapeError{Op: "WithPositions", Shapes: [][]int{positions.Shape()}, Hint: "positions must be [N T] of type int32"})
	}
	withScope(func(s *scope) { s.packed = positions }, f)
}

// Positions returns what the innermost running [WithPositions] has set, nil if there is none. Two tokens
// of a row are of the same sequence if index minus position is the same for both.
func Positions() *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	return e.current.packed
}

// requireApart panics if sequences are packed and nothing keeps them apart.
func requireApart(op string, see AttentionMask) {
	if see.Mask == nil && see.Bias == nil && Positions() != nil {
		panic(&StateError{Op: op, Hint: "the rows of the batch are packed sequences, which would attend to each other: use a layer of package nn, set AttentionMask.Mask from tensor.Positions, or train without PackSequences"})
	}
}
