package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// Dropout returns a layer that in training mode sets each element to zero with probability
// share and scales the others by 1/(1-share), which keeps the expected value (Srivastava et
// al., 2014). In evaluation mode (see [Eval]) it returns its input. In any mode Forward panics
// with a *tensor.StateError if share is not in [0, 1].
func Dropout(share float64) Module { return &dropout{name: "Dropout", share: share} }

// Dropout2D returns a [Dropout] that sets whole channels of images [N, C, H, W] to zero, whose pixels
// are too similar for single ones to matter (Tompson et al., 2015). It is Keras' SpatialDropout2D.
func Dropout2D(share float64) Module {
	return &dropout{name: "Dropout2D", share: share, channels: true}
}

type dropout struct {
	name       string
	share      float64
	channels   bool // all elements of a channel, or none
	evaluating bool
	fixed      *uint64 // seed of SampleDropout; nil without
	rank       uint64  // see Vary
}

// Vary makes the layer draw the random numbers of a rank in tensor parallelism, which are those of another seed.
func (d *dropout) Vary(rank int) { d.rank = uint64(rank) }

// ofRank makes tensors draw the random numbers of the layer's rank until end is called.
func (d *dropout) ofRank() (end func()) {
	const step = 0xbf58476d1ce4e5b9 // keeps the seeds of the ranks apart
	all := (*tensor.Generator)(nil)
	seed, drawn := all.State()
	all.SetState(seed+d.rank*step, drawn)
	return func() {
		_, drawn := all.State()
		all.SetState(seed, drawn)
	}
}

func (d *dropout) Forward(x *Tensor) *Tensor {
	if !(d.share >= 0 && d.share <= 1) {
		panic(&tensor.StateError{Op: d.name, Hint: fmt.Sprintf("the probability %g must be between 0 and 1", d.share)})
	}
	if shape := x.Shape(); d.channels && len(shape) != 4 {
		panic(&tensor.ShapeError{Op: d.name, Shapes: [][]int{shape}, Hint: "the input must be images [N, C, H, W]"})
	}
	if layer.Substituting() {
		return x
	}
	if d.share == 1 && (!d.evaluating || d.fixed != nil) {
		return x.MulScalar(0)
	}
	if d.fixed != nil {
		return x.Mul(d.mask(x))
	}
	if d.evaluating {
		return x
	}
	if d.rank != 0 {
		defer d.ofRank()()
	}
	if d.channels {
		mask := tensor.Ones(x.Size(0), x.Size(1), 1, 1).Cast(x.DType()).Dropout(d.share, nil, true)
		defer mask.Release()
		return x.Mul(mask)
	}
	return x.Dropout(d.share, nil, true)
}

// drops reports whether Forward may change its input.
func (d *dropout) drops() bool {
	return d.share != 0 && (!d.evaluating || d.fixed != nil) && !layer.Substituting()
}

func (d *dropout) setTraining(on bool) { d.evaluating, d.fixed = !on, nil }
func (d *dropout) String() string      { return fmt.Sprintf("%s(%g)", d.name, d.share) }
func (*dropout) retainsNothing() bool  { return true }
func (*dropout) Layer() any            { return layer.Dropout{} }

func (d *dropout) saveMode() func() {
	evaluating, fixed := d.evaluating, d.fixed
	return func() { d.evaluating, d.fixed = evaluating, fixed }
}

// SampleDropout selects one member of a dropout ensemble (Gal and Ghahramani, Dropout as a
// Bayesian Approximation, 2016): the model is in evaluation mode, but each [Dropout] and [Dropout2D] drops
// elements, the same ones for every example and batch, which seed determines, until [Train] is
// called. It returns the number of layers that drop elements. It does not affect dropout that a
// module's own Forward applies to tensors.
func SampleDropout(model any, seed uint64) (dropouts int) {
	Train(model, false)
	walk(model, func(_ []string, v any) {
		d, ok := v.(*dropout)
		if !ok || d.share == 0 {
			return
		}
		layer := tensor.NewGenerator(seed)
		layer.SetState(seed, uint64(dropouts)<<40) // far apart in one stream
		fixed := layer.Uint64()
		d.fixed = &fixed
		dropouts++
	})
	return dropouts
}

// mask returns the factors that a layer with a fixed seed multiplies each example of x by.
func (d *dropout) mask(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) > 0 {
		shape[0] = 1
	}
	if d.channels {
		shape[2], shape[3] = 1, 1
	}
	return tensor.Ones(shape...).Cast(x.DType()).Dropout(d.share, tensor.NewGenerator(*d.fixed), true)
}
