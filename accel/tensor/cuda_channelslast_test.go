//go:build !race

package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestImagesOfConvolutionsOnCUDA compares what is computed from 16-bit convolutions, and its gradients, with
// the CPU. On the GPU images have the channels last in memory; ops may read them as they are, in copies,
// or as views. With layout=off they are in row-major order.
func TestImagesOfConvolutionsOnCUDA(t *testing.T) {
	const n, c, h, w = 2, 8, 5, 6
	same := Window{Padding: [2]int{1, 1}}
	var square, wide, depth, odd, other, rows, perChannel, mask, one *Tensor
	random := func() { // on the current device
		g := NewGenerator(7)
		square, wide, depth, odd = Randn(g, c, c, 3, 3), Randn(g, 12, c, 1, 1), Randn(g, c, 1, 3, 3), Randn(g, 5, c, 2, 3)
		other, rows, perChannel, mask, one = Randn(g, n, c, h, w), Randn(g, c*h*w, 3), Randn(g, c, 1, 1), Randn(g, n, 1, h, w), Randn(g, c)
	}
	conv := func(x, w *Tensor) *Tensor { return Conv2D(x, w.MulScalar(.2), nil, same) }
	norm := func(x *Tensor) *Tensor {
		return BatchNorm(x, Full(1.5, c), Full(.5, c), Zeros(c), Ones(c), .1, 1e-5, true)
	}
	pool := func(x *Tensor) *Tensor { return MaxPool2D(x, [2]int{2, 2}, Window{Stride: [2]int{2, 2}}) }
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"as it is":            func(x *Tensor) *Tensor { return x },
		"ReLU, a convolution": func(x *Tensor) *Tensor { return conv(x.ReLU(), square) },
		"a residual block":    func(x *Tensor) *Tensor { return norm(conv(norm(conv(x, square)).ReLU(), square)).Add(x).ReLU() },
		"a pool of a block":   func(x *Tensor) *Tensor { return pool(norm(x).ReLU()) },
		"overlapping pools": func(x *Tensor) *Tensor {
			return MaxPool2D(x.ReLU(), [2]int{3, 3}, Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}})
		},
		"averages":                     func(x *Tensor) *Tensor { return AvgPool2D(norm(x), [2]int{2, 2}, Window{}) },
		"an average of all":            func(x *Tensor) *Tensor { return AvgPool2D(norm(x), [2]int{h, w}, Window{}) },
		"a pool of all, a convolution": func(x *Tensor) *Tensor { return Conv2D(MaxPool2D(x, [2]int{h, w}, Window{}), wide, nil, Window{}) },
		"a flatten":                    func(x *Tensor) *Tensor { return x.ReLU().Reshape(n, -1).MatMul(rows) },
		"a flatten of pools":           func(x *Tensor) *Tensor { return pool(norm(x).ReLU()).Reshape(n, -1) },
		"images of a matrix": func(x *Tensor) *Tensor {
			return conv(x.Reshape(n, -1).MatMul(rows).MatMul(rows.Permute(1, 0)).Reshape(n, c, h, w), square)
		},
		"pixels as tokens": func(x *Tensor) *Tensor { return x.Reshape(n, c, h*w).Permute(0, 2, 1).MatMul(Full(.3, c, 4)) },
		"tokens as pixels": func(x *Tensor) *Tensor {
			return conv(x.Reshape(n, c, h*w).Permute(0, 2, 1).Tanh().Permute(0, 2, 1).Reshape(n, c, h, w), square)
		},
		"channels last":       func(x *Tensor) *Tensor { return x.Permute(0, 2, 3, 1).Softmax(3) },
		"softmax of channels": func(x *Tensor) *Tensor { return x.Softmax(1) },
		"a layer norm":        func(x *Tensor) *Tensor { return conv(LayerNorm(x, nil, nil, 3, 1e-5), square) },
		"groups of channels": func(x *Tensor) *Tensor {
			return conv(LayerNorm(x.Reshape(n, 2, c/2*h*w), nil, nil, 1, 1e-5).Reshape(n, c, h, w), square)
		},
		"a slice of channels":        func(x *Tensor) *Tensor { return x.Slice(1, 2, 6).ReLU() },
		"slices, joined":             func(x *Tensor) *Tensor { return conv(Concat(1, x.Slice(1, 3, 8), x.Slice(1, 0, 3).Sigmoid()), square) },
		"a slice of images and rows": func(x *Tensor) *Tensor { return conv(x.Slice(0, 1, 2).Slice(2, 1, 4), square) },
		"joined with another": func(x *Tensor) *Tensor {
			return Conv2D(Concat(1, other.Slice(1, 0, 3), x.Slice(1, 0, 5)), wide, nil, Window{})
		},
		"images, joined":                func(x *Tensor) *Tensor { return conv(Concat(0, x, other), square) },
		"padded":                        func(x *Tensor) *Tensor { return conv(x.Pad(3, 1, 2).Pad(1, 0, 0), square) },
		"a sum of channels":             func(x *Tensor) *Tensor { return x.Sum(1) },
		"a sum of pixels":               func(x *Tensor) *Tensor { return x.Sum(2, 3) },
		"a mean of pixels":              func(x *Tensor) *Tensor { return x.ReLU().Mean(2, 3) },
		"a sum of columns":              func(x *Tensor) *Tensor { return x.Sum(3) },
		"a sum of images":               func(x *Tensor) *Tensor { return x.Sum(0) },
		"a sum of images and pixels":    func(x *Tensor) *Tensor { return x.Sum(0, 2, 3) },
		"a sum of images, then pixels":  func(x *Tensor) *Tensor { return x.Sum(0).Sum(1, 2) },
		"a mean of images, then pixels": func(x *Tensor) *Tensor { return x.Mean(0).Sum(1, 2).Add(x.Sum(2, 3).Mean(0)) },
		"a sum of images and channels":  func(x *Tensor) *Tensor { return x.Sum(0, 1) },
		"a sum of a slice":              func(x *Tensor) *Tensor { return x.Slice(1, 1, 4).Sum(2, 3).Sum(0) },
		"a sum of all":                  func(x *Tensor) *Tensor { return x.Square().Sum() },
		"the largest of channels":       func(x *Tensor) *Tensor { return x.Max(1) },
		"sums so far":                   func(x *Tensor) *Tensor { return x.CumSum(1) },
		"a factor for channels": func(x *Tensor) *Tensor {
			return conv(x.Mul(x.Mean(2, 3).Sigmoid().Reshape(n, c, 1, 1)).Add(perChannel), square)
		},
		"a factor for pixels":   func(x *Tensor) *Tensor { return conv(x.Mul(mask), square) },
		"a factor for elements": func(x *Tensor) *Tensor { return conv(other.Mul(x).Sub(other.Exp().MulScalar(.1)), square) },
		"a mask":                func(x *Tensor) *Tensor { return Where(x.Greater(other), x, other.MulScalar(.5)) },
		"of another type":       func(x *Tensor) *Tensor { return conv(x.Cast(Float64).MulScalar(1.5).Cast(Float32), square) },
		"a wide convolution":    func(x *Tensor) *Tensor { return Conv2D(x, wide, nil, Window{}) },
		"strides and dilation": func(x *Tensor) *Tensor {
			return Conv2D(x, odd, nil, Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 2}, Dilation: [2]int{2, 1}})
		},
		"windows next to each other": func(x *Tensor) *Tensor { return Conv2D(x, odd, nil, Window{Stride: [2]int{2, 3}}) },
		"one channel each":           func(x *Tensor) *Tensor { return Conv2D(x, depth, one, Window{Padding: [2]int{1, 1}, Groups: c}).ReLU() },
		"a bias and a ReLU":          func(x *Tensor) *Tensor { return Conv2D(x, square.MulScalar(.2), one, same).ReLU() },
		"transposed": func(x *Tensor) *Tensor {
			return ConvTranspose2D(x, odd.Permute(1, 0, 2, 3), Full(.5, 5), Window{Stride: [2]int{2, 1}}, [2]int{1, 0}).ReLU()
		},
		"sequences": func(x *Tensor) *Tensor {
			rows := x.Reshape(n, c, h*w)
			return Conv1D(Conv1D(rows, Full(.1, c, c, 3), one, Window{Padding: [2]int{1}}).ReLU(), Full(.2, 4, c, 1), nil, Window{})
		},
		"to one channel and back": func(x *Tensor) *Tensor {
			return conv(Conv2D(Conv2D(x, Full(.1, 1, c, 1, 1), nil, Window{}).ReLU(), Full(.7, c, 1, 1, 1), nil, Window{}), square)
		},
	} {
		types := []DType{BFloat16}
		if strings.Contains(name, "block") || strings.Contains(name, "channel") {
			types = append(types, Float16)
		}
		for _, d := range types {
			t.Run(fmt.Sprint(name, " of ", d), func(t *testing.T) {
				run := func(apart bool) (got []float64) {
					random()
					x, k := Parameter(other.MulScalar(.5)), Parameter(square.MulScalar(.15))
					for range 2 { // the second step has a weight that the first one computed
						var y *Tensor
						Autocast(d, func() {
							images := Conv2D(x, k, nil, same)
							if apart { // what follows reads images that are in memory
								Flush()
							}
							y = f(images)
						})
						slope := Randn(NewGenerator(3), y.Shape()...)
						x.ZeroGrad()
						k.ZeroGrad()
						y.Cast(Float32).Mul(slope).Sum().Backward()
						if d == BFloat16 {
							k.Assign(k.Detach().Sub(k.Grad().Cast(Float32).MulScalar(1. / 512)))
						}
						if apart {
							Flush()
						}
						for _, v := range []*Tensor{y, x.Grad(), k.Grad(), k} {
							got = append(got, v.Cast(Float64).Float64s()...)
						}
						if d == Float16 {
							break
						}
					}
					return got
				}
				want := run(false)
				compare := func(apart bool) {
					for i, g := range run(apart) {
						if w := want[i]; !(math.Abs(g-w) <= 1./16*math.Max(1, math.Abs(w))) {
							t.Fatalf("in two lists %v, %+v: element %d of %d is %v, on the CPU %v", apart, libraries.Variants, i, len(want), g, w)
						}
					}
				}
				onCUDA(t, func() {
					compare(false)
					compare(true)
				})
				rowMajor := func() {
					libraries.Variants.NoLayout = true
					defer func() { libraries.Variants.NoLayout = false }()
					onCUDA(t, func() { compare(false) })
				}
				rowMajor()
				if strings.Contains(name, "block") {
					withLibraries(rowMajor)
				}
			})
		}
	}
}
