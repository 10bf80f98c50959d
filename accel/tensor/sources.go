package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// OtherParameters returns the shapes of the parameters that t depends on and that are not
// among known: a gradient of t flows into them, but an optimiser of the known ones does
// not change them. It is asked before Backward.
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
