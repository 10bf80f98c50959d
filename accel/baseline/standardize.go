package baseline

import (
	"github.com/quernlab/quern/accel/tensor"
)

// scale is the mean and the standard deviation of each feature, float32 [D]. The deviation is that of
// the examples themselves, as of scikit-learn's StandardScaler; it is 1 for a constant feature.
type scale struct{ mean, deviation *tensor.Tensor }

// newScale returns the scale of examples [N, D].
func newScale(x *tensor.Tensor) scale {
	wide := x.Cast(tensor.Float64)
	deviation := wide.Std(0, 0)
	one := tensor.Ones(1).Cast(tensor.Float64)
	zero := tensor.Zeros(1).Cast(tensor.Float64)
	return scale{wide.Mean(0).Cast(tensor.Float32), tensor.Where(deviation.Greater(zero), deviation, one).Cast(tensor.Float32)}
}

// apply standardizes examples [N, D].
func (s scale) apply(x *tensor.Tensor) *tensor.Tensor { return x.Sub(s.mean).Div(s.deviation) }
