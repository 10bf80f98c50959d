package baseline

import (
	"github.com/quernlab/quern/accel/preprocess"
	"github.com/quernlab/quern/accel/tensor"
)

// scale is the mean and the standard deviation of each feature, float32 [D], as of [preprocess.Scale].
type scale struct{ mean, deviation *tensor.Tensor }

// newScale returns the scale of examples [N, D].
func newScale(x *tensor.Tensor) scale {
	n, width, values := x.Size(0), x.Size(1), x.Float64s()
	mean, deviation := make([]float64, width), make([]float64, width)
	column := make([]float64, n)
	for d := range width {
		for i := range column {
			column[i] = values[i*width+d]
		}
		mean[d], deviation[d] = preprocess.Scale(column)
	}
	return scale{tensor.FromFloat64s(mean, width).Cast(tensor.Float32), tensor.FromFloat64s(deviation, width).Cast(tensor.Float32)}
}

// apply standardizes examples [N, D].
func (s scale) apply(x *tensor.Tensor) *tensor.Tensor { return x.Sub(s.mean).Div(s.deviation) }
