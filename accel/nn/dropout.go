package nn

import "fmt"

// Dropping sets elements to zero at random; [Dropout] makes it.
type Dropping struct {
	share      float64
	evaluating bool
}

// Dropout sets each element to zero with probability share while training and
// scales the others by 1/(1-share), so that the mean stays (Srivastava et al.,
// 2014). In evaluation mode, see [Train], it returns its input. share is
// brought into [0, 1].
func Dropout(share float64) *Dropping {
	if !(share > 0) {
		share = 0
	}
	return &Dropping{share: min(share, 1)}
}

// Forward drops elements of x, or in evaluation mode returns x.
func (d *Dropping) Forward(x *Tensor) *Tensor {
	if d.share == 1 && !d.evaluating {
		return x.MulScalar(0)
	}
	return x.Dropout(d.share, nil, !d.evaluating)
}

func (*Dropping) private() bool { return true }

func (d *Dropping) setTraining(on bool) { d.evaluating = !on }

// String is the module as it is written in Go.
func (d *Dropping) String() string { return fmt.Sprintf("Dropout(%g)", d.share) }
