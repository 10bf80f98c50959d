package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// TiedDense returns a layer that maps [… width] to [… out] with the weight [out, width] of another
// layer, an [Embedding] or a [Dense], and without a bias: y = x·Wᵀ. Language models use the
// embedding of their tokens again to compute logits (Press and Wolf, 2017). The weight is one
// parameter, with the name that it has in the other layer, which must come first in the model and
// in each computation.
func TiedDense(to Module) Module { return &tiedDense{to: to} }

type tiedDense struct{ to Module }

func (l *tiedDense) Forward(x *Tensor) *Tensor {
	var weight *Tensor
	switch to := l.to.(type) {
	case *embedding:
		weight = to.weight
	case *DenseLayer:
		weight = to.Weight
	default:
		panic(&tensor.StateError{Op: "TiedDense", Hint: fmt.Sprintf("%s has no weight to share: use an Embedding or a Dense", describe(l.to))})
	}
	if weight == nil {
		panic(&tensor.StateError{Op: "TiedDense", Hint: fmt.Sprintf("%s has no weight yet: it must have an input first", describe(l.to))})
	}
	return tensor.Linear(x, weight, nil)
}

func (l *tiedDense) String() string     { return "TiedDense(" + describe(l.to) + ")" }
func (*tiedDense) retainsNothing() bool { return true }
