package tensor

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// AttentionWeights returns the weights with which [MaskedAttention] adds the values: softmax(q·kᵀ/√D)
// over the visible keys, [B, H, T, S], for queries [B, H, T, D] and keys [B, H, S, D]. The weights of
// a query that attends to no key are 0. Unlike MaskedAttention it needs memory for T·S weights.
func AttentionWeights(q, k *Tensor, see AttentionMask) *Tensor {
	const op = "AttentionWeights"
	shape, keys := q.Shape(), k.Shape()
	if len(shape) != 4 || len(keys) != 4 || shape[0] != keys[0] || shape[1] != keys[1] || shape[3] != keys[3] || shape[3] < 1 {
		panic(&ShapeError{Op: op, Shapes: [][]int{shape, keys}, Hint: "queries must be [B H T D] and keys [B H S D]"})
	}
	requireApart(op, see)
	scores := q.MatMul(k.Permute(0, 1, 3, 2)).MulScalar(1 / math.Sqrt(float64(shape[3])))
	added := see.bias(k)
	if see.Causal {
		hidden := Full(math.Inf(-1)).Cast(scores.DType())
		seen := Ones(shape[2], keys[2]).Tril(0)
		causal := Where(seen, Full(0).Cast(scores.DType()), hidden).Reshape(1, 1, shape[2], keys[2])
		if added == nil {
			added = causal
		} else {
			added = added.Add(causal)
		}
	}
	if added == nil {
		return scores.Softmax(-1)
	}
	// Where all keys are hidden, the softmax of -Inf would be NaN, and so would its gradient.
	zero := Full(0).Cast(added.DType())
	some := added.Max(3).Reshape(added.Size(0), added.Size(1), added.Size(2), 1).Greater(Full(math.Inf(-1)).Cast(added.DType()))
	weights := scores.Add(Where(some, added, zero)).Softmax(-1)
	return Where(some, weights, Full(0).Cast(weights.DType()))
}

// attended runs f for tensors.RecordAttention.
func attended(f func()) []recordedAttention {
	var all []recordedAttention
	withScope(func(s *scope) { s.attention = &all }, f)
	return all
}

type recordedAttention = tensors.RecordedAttention[*Tensor]

// recordAttention appends the weights to the list of RecordAttention.
func recordAttention(q, k *Tensor, see AttentionMask) {
	var to *[]recordedAttention
	var path, kind string
	e := shared()
	e.enter()
	to, path, kind = e.current.attention, e.current.Path, e.current.Kind
	e.leave()
	if to != nil {
		*to = append(*to, recordedAttention{Path: path, Layer: kind, Weights: AttentionWeights(q, k, see)})
	}
}
