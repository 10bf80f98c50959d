package nn

import "fmt"

// ReverseGradient returns a layer that returns its input and multiplies the gradient by -scale. Between features and a
// classifier of domains it makes the features learn what the classifier cannot use (Ganin and Lempitsky, Unsupervised
// Domain Adaptation by Backpropagation, 2015). The input must be finite.
func ReverseGradient(scale float64) Module { return reversed{scale} }

type reversed struct{ scale float64 }

func (r reversed) Forward(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	slope := s.keep(x.MulScalar(-r.scale))
	return s.keep(x.Detach()).Add(s.keep(slope.Sub(s.keep(slope.Detach())))) // the difference is 0, its gradient -scale
}

func (r reversed) String() string     { return fmt.Sprintf("ReverseGradient(%g)", r.scale) }
func (reversed) retainsNothing() bool { return true }
