package nn

import (
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// BatchNorm gives each channel mean 0 and variance 1, over the batch and over
// the pixels, and then a scale and a shift that are trained (Ioffe and Szegedy,
// 2015):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// It takes [N, C] and [N, C, …]. While training, mean and variance are those of
// the batch, which must hold at least two numbers of each channel, and running
// means of them are kept: a tenth of each new one, as PyTorch's with momentum
// 0.1, the variance as that of a sample. In evaluation mode the running means
// are used.
func BatchNorm() Module { return &batchNorm{} }

type batchNorm struct {
	untouched
	weight, bias            *Tensor // [C], nil before the first input
	runningMean, runningVar *Tensor // [C]
	evaluating              bool
}

const (
	batchNormMomentum = 0.1
	batchNormEpsilon  = 1e-5
)

func (n *batchNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) < 2 {
		panic(&tensor.ShapeError{Op: "BatchNorm", Shapes: [][]int{shape}, Hint: "an input [N, C] or [N, C, …] is needed"})
	}
	channels := shape[1]
	if n.weight == nil {
		n.make([]int{channels})
	}
	if n.weight.Dim(0) != channels {
		panic(&tensor.ShapeError{Op: "BatchNorm", Shapes: [][]int{shape, n.weight.Shape()}, Hint: "the number of channels has changed"})
	}
	var s scratch
	defer s.release()
	column := slices.Repeat([]int{1}, len(shape)) // [1, C, 1, …]
	column[1] = channels
	if n.evaluating {
		deviation := s.keep(s.keep(n.runningVar.AddScalar(batchNormEpsilon)).Sqrt())
		scale := s.keep(n.weight.Div(deviation))
		shift := s.keep(n.bias.Sub(s.keep(n.runningMean.Mul(scale))))
		return s.keep(x.Mul(s.keep(scale.Reshape(column...)))).Add(s.keep(shift.Reshape(column...)))
	}
	others := []int{0}
	count := shape[0]
	for i := 2; i < len(shape); i++ {
		others, count = append(others, i), count*shape[i]
	}
	if count < 2 {
		panic(&tensor.ShapeError{Op: "BatchNorm", Shapes: [][]int{shape}, Hint: "while training, each channel needs at least two numbers: is the last batch a single example?"})
	}
	mean := s.keep(x.Mean(others...))
	centred := s.keep(x.Sub(s.keep(mean.Reshape(column...))))
	variance := s.keep(s.keep(centred.Square()).Mean(others...))
	n.remember(mean, variance, float64(count)/float64(count-1))
	deviation := s.keep(s.keep(variance.AddScalar(batchNormEpsilon)).Sqrt())
	scale := s.keep(s.keep(n.weight.Div(deviation)).Reshape(column...))
	return s.keep(centred.Mul(scale)).Add(s.keep(n.bias.Reshape(column...)))
}

// remember moves the running means towards those of a batch.
func (n *batchNorm) remember(mean, variance *Tensor, sample float64) {
	tensor.NoGrad(func() {
		for _, v := range []struct {
			running, now *Tensor
			factor       float64
		}{{n.runningMean, mean, 1}, {n.runningVar, variance, sample}} {
			var s scratch
			v.running.Assign(s.keep(v.running.MulScalar(1 - batchNormMomentum)).Add(s.keep(v.now.MulScalar(batchNormMomentum * v.factor))))
			s.release()
		}
	})
}

// make begins with parameters of this shape.
func (n *batchNorm) make(shape []int) {
	n.weight, n.bias = tensor.Ones(shape...), tensor.Zeros(shape...)
	n.weight.SetRequiresGrad(!n.frozen)
	n.bias.SetRequiresGrad(!n.frozen)
	n.runningMean, n.runningVar = tensor.Zeros(shape...), tensor.Ones(shape...)
}

func (n *batchNorm) setTraining(on bool) { n.evaluating = !on }
func (n *batchNorm) measured() []*Tensor { return []*Tensor{n.runningMean, n.runningVar} }
func (*batchNorm) String() string        { return "BatchNorm()" }
func (*batchNorm) private() bool         { return true }

// scratch keeps tensors on the way to a layer's output, which nobody else sees.
type scratch struct{ made []*Tensor }

func (s *scratch) keep(t *Tensor) *Tensor {
	s.made = append(s.made, t)
	return t
}

func (s *scratch) release() {
	for _, t := range s.made {
		t.Release()
	}
}
