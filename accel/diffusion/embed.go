package diffusion

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TimeEmbedding returns a layer that maps time steps t, [N] or [N, 1], to vectors [N, width] of sines and cosines of
// different frequencies, from 1 to 1/10000: sin(t·10000^(-i/(w-1))) for i from 0 to w-1, where w is half of the
// width, and then the cosines (Vaswani et al., 2017, as Ho et al., 2020, compute it). The width is even and at least
// 4; others panic with a *tensor.ShapeError. It has no parameters.
func TimeEmbedding(width int) nn.Module {
	if width < 4 || width%2 != 0 {
		fail(fmt.Sprintf("TimeEmbedding(%d)", width), "the width must be even and at least 4")
	}
	half := width / 2
	frequencies := make([]float64, half)
	for i := range frequencies {
		frequencies[i] = math.Pow(10000, -float64(i)/float64(half-1))
	}
	return nn.Lambda(func(t *tensor.Tensor) *tensor.Tensor {
		if shape := t.Shape(); len(shape) == 0 || len(shape) > 2 || len(shape) == 2 && shape[1] != 1 {
			fail("TimeEmbedding", "the time steps must be [N] or [N 1]", shape)
		}
		angles := t.Cast(tensor.Float32).Reshape(-1, 1).Mul(tensor.FromFloat64s(frequencies, 1, half).Cast(tensor.Float32))
		return tensor.Concat(1, angles.Sin(), angles.Cos())
	})
}

// Embed returns the first layer of a model for vectors: it maps the examples of [Schedule.Dataset], [N, values + 1], to
// [N, values + width], the noisy example beside the [TimeEmbedding] of its step. With classes above 0, inputs have a
// class too, [N, values + 2], and the result is [N, values + 2·width], with a trained vector for the class. It panics
// with a *tensor.ShapeError for a width that TimeEmbedding rejects, and for a negative number of classes.
func Embed(width, classes int) nn.Module {
	e := &embed{Time: TimeEmbedding(width), Class: nn.Identity(), classes: classes, width: width}
	if classes < 0 {
		fail(e.String(), "the number of classes must not be negative")
	}
	if classes > 0 {
		e.Class = nn.Embedding(classes, width)
	}
	return e
}

type embed struct {
	Time, Class    nn.Module // Class is not used without classes
	width, classes int
}

func (e *embed) Forward(x *tensor.Tensor) *tensor.Tensor {
	shape, after := x.Shape(), 1
	if e.classes > 0 {
		after = 2
	}
	if len(shape) != 2 || shape[1] <= after {
		fail(e.String(), fmt.Sprintf("examples must be vectors with %d more values, as those of Schedule.Dataset", after), shape)
	}
	n := shape[1] - after
	parts := []*tensor.Tensor{x.Slice(1, 0, n), e.Time.Forward(x.Slice(1, n, n+1)).Cast(x.DType())}
	if e.classes > 0 {
		parts = append(parts, e.Class.Forward(x.Slice(1, n+1, n+2)).Flatten(1))
	}
	return tensor.Concat(1, parts...)
}

// String returns the layer as Go code.
func (e *embed) String() string { return fmt.Sprintf("diffusion.Embed(%d, %d)", e.width, e.classes) }
