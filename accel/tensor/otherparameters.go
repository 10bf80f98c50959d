package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// OtherParameters returns the shapes of the parameters that t depends on and that are not in known:
// gradients of t flow into them, but an optimizer of the known parameters does not update them.
// Call it before Backward.
func (t *Tensor) OtherParameters(known []*Tensor) (shapes [][]int) {
	locked(func(r *ir.Recorder) {
		leaves := make([]*ir.Leaf, 0, len(known))
		for _, k := range known {
			if k.leaf != nil {
				leaves = append(leaves, k.leaf)
			}
		}
		for _, s := range r.Sources(t.value("OtherParameters"), leaves) {
			shapes = append(shapes, slices.Clone(s.Shape))
		}
	})
	return shapes
}
