package nn

import "github.com/quernlab/quern/accel/tensor"

// DroppedAttention is the attention in training mode with dropout of its weights.
func DroppedAttention(share float64, q, k, v *Tensor, see tensor.AttentionMask) *Tensor {
	return droppedAttention(&dropout{share: share}, q, k, v, see)
}
