package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

type arguments = []*tensor.Tensor

// op is a computation whose result and gradients are compared.
type op struct {
	name   string
	shapes [][]int // of the inputs
	low    float64 // minimum of the inputs; 0: normally distributed inputs
	f      func(in arguments) *tensor.Tensor
	exact  bool // no gradient; the result must be equal
	fp8    bool // in FP8
	// tolerance in float32, if it differs from that of the other ops; otherwise 0.
	tolerance float64
}

func elementwise(name string, low float64, f func(x *tensor.Tensor) *tensor.Tensor) op {
	return op{name: name, shapes: [][]int{{7, 33}}, low: low, f: func(in arguments) *tensor.Tensor { return f(in[0]) }}
}

func pairwise(name string, low float64, f func(x, y *tensor.Tensor) *tensor.Tensor) op {
	return op{name: name, shapes: [][]int{{5, 1, 19}, {3, 19}}, low: low, f: func(in arguments) *tensor.Tensor { return f(in[0], in[1]) }}
}

func whole(name string, f func(in arguments) *tensor.Tensor, shapes ...[]int) op {
	return op{name: name, shapes: shapes, f: f}
}

func index(of int, shape ...int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]int, n)
	for i := range values {
		values[i] = i * 7 % of
	}
	return tensor.FromInts(values, shape...)
}

// ops returns an op for every kind of kernel, with sizes that are not multiples of a tile.
func ops() []op {
	window := tensor.Window{Padding: [2]int{1, 1}}
	list := []op{
		elementwise("Abs", 0, (*tensor.Tensor).Abs), elementwise("AddScalar", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(1.5) }),
		elementwise("Clamp", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.Clamp(-0.5, 0.7) }), elementwise("Cos", 0, (*tensor.Tensor).Cos),
		elementwise("ELU", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.ELU(0.9) }), elementwise("Exp", 0, (*tensor.Tensor).Exp),
		elementwise("Erf", 0, (*tensor.Tensor).Erf), elementwise("Expm1", 0, (*tensor.Tensor).Expm1), elementwise("Log1p", 0.1, (*tensor.Tensor).Log1p),
		elementwise("Softplus", 0, (*tensor.Tensor).Softplus),
		elementwise("GELU", 0, (*tensor.Tensor).GELU), elementwise("LeakyReLU", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.LeakyReLU(0.1) }),
		elementwise("Log", 0.1, (*tensor.Tensor).Log), elementwise("MulScalar", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(-3) }),
		elementwise("Neg", 0, (*tensor.Tensor).Neg), elementwise("PowScalar", 0.1, func(x *tensor.Tensor) *tensor.Tensor { return x.PowScalar(1.7) }),
		elementwise("ReLU", 0, (*tensor.Tensor).ReLU), elementwise("SiLU", 0, (*tensor.Tensor).SiLU), elementwise("Sigmoid", 0, (*tensor.Tensor).Sigmoid),
		elementwise("Sin", 0, (*tensor.Tensor).Sin), elementwise("Sqrt", 0.1, (*tensor.Tensor).Sqrt), elementwise("Square", 0, (*tensor.Tensor).Square),
		elementwise("Tanh", 0, (*tensor.Tensor).Tanh),
		pairwise("Add", 0, (*tensor.Tensor).Add), pairwise("Sub", 0, (*tensor.Tensor).Sub), pairwise("Mul", 0, (*tensor.Tensor).Mul),
		pairwise("Div", 0.3, (*tensor.Tensor).Div), pairwise("Pow", 0.3, (*tensor.Tensor).Pow), pairwise("Maximum", 0, (*tensor.Tensor).Maximum),
		pairwise("Minimum", 0, (*tensor.Tensor).Minimum),
		pairwise("Where", 0, func(x, y *tensor.Tensor) *tensor.Tensor { return tensor.Where(x.Greater(y), x.Square(), y) }),
	}
	one := func(name string, f func(x *tensor.Tensor) *tensor.Tensor, shape ...int) {
		list = append(list, whole(name, func(in arguments) *tensor.Tensor { return f(in[0]) }, shape))
	}
	one("Sum", func(x *tensor.Tensor) *tensor.Tensor { return x.Sum(1) }, 9, 65, 3)
	one("Mean", func(x *tensor.Tensor) *tensor.Tensor { return x.Mean(0, 2) }, 9, 65, 3)
	one("Var", func(x *tensor.Tensor) *tensor.Tensor { return x.Var(1, 1) }, 9, 65)
	one("Max", func(x *tensor.Tensor) *tensor.Tensor { return x.Max(1) }, 9, 65, 3)
	one("CumSum", func(x *tensor.Tensor) *tensor.Tensor { return x.CumSum(1) }, 5, 300)
	one("Softmax", func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(1) }, 11, 77)
	one("LogSoftmax", func(x *tensor.Tensor) *tensor.Tensor { return x.LogSoftmax(1) }, 11, 1100)
	one("LogSumExp", func(x *tensor.Tensor) *tensor.Tensor { return x.LogSumExp(0) }, 40, 7)
	one("Transpose", func(x *tensor.Tensor) *tensor.Tensor { return x.Permute(2, 0, 1).MulScalar(2) }, 5, 34, 35)
	one("Pad", func(x *tensor.Tensor) *tensor.Tensor { return x.Pad(1, 2, 3) }, 5, 34)
	one("Slice", func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 3, 30).Square() }, 5, 34)
	one("IndexSelect", func(x *tensor.Tensor) *tensor.Tensor { return x.IndexSelect(index(13, 29)) }, 13, 17)
	one("IndexAdd", func(x *tensor.Tensor) *tensor.Tensor { return x.IndexAdd(index(13, 29), 13) }, 29, 17)
	one("Gather", func(x *tensor.Tensor) *tensor.Tensor { return x.Gather(1, index(17, 13, 29)) }, 13, 17)
	one("Flip", func(x *tensor.Tensor) *tensor.Tensor { return x.Flip(0, 1).Roll(3, 1) }, 13, 17)
	one("Prod", func(x *tensor.Tensor) *tensor.Tensor { return x.Prod(1) }, 9, 11, 3)
	one("CumProd", func(x *tensor.Tensor) *tensor.Tensor { return x.CumProd(1) }, 5, 11)
	one("Quantile", func(x *tensor.Tensor) *tensor.Tensor { return x.Quantile(0.3, 1) }, 9, 65)
	one("Normalize", func(x *tensor.Tensor) *tensor.Tensor { return x.Normalize(2, 1) }, 9, 65)
	one("CrossEntropy", func(x *tensor.Tensor) *tensor.Tensor { return tensor.CrossEntropy(x, index(77, 19)) }, 19, 77)
	one("MaxPool2D", func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.MaxPool2D(x, [2]int{2, 2}, tensor.Window{Stride: [2]int{2, 2}})
	}, 2, 3, 10, 12)
	one("AvgPool2D", func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.AvgPool2D(x, [2]int{3, 3}, tensor.Window{Stride: [2]int{2, 2}})
	}, 2, 3, 11, 13)
	return append(list,
		whole("ScatterAdd", func(in arguments) *tensor.Tensor { return in[0].ScatterAdd(1, index(17, 13, 29), in[1]) }, []int{13, 17}, []int{13, 29}),
		whole("CDist", func(in arguments) *tensor.Tensor { return tensor.CDist(in[0], in[1]) }, []int{9, 33}, []int{13, 33}),
		whole("Concat", func(in arguments) *tensor.Tensor { return tensor.Concat(1, in...) }, []int{4, 5}, []int{4, 9}),
		whole("MatMul", func(in arguments) *tensor.Tensor { return in[0].MatMul(in[1]) }, []int{67, 45}, []int{45, 131}),
		whole("MatMul transposed", func(in arguments) *tensor.Tensor { return in[0].T().MatMul(in[1].T()) }, []int{40, 72}, []int{136, 40}),
		whole("MatMul batched", func(in arguments) *tensor.Tensor { return in[0].MatMul(in[1]) }, []int{3, 24, 64}, []int{3, 64, 40}),
		whole("Linear", func(in arguments) *tensor.Tensor { return tensor.Linear(in[0], in[1], in[2]).ReLU() }, []int{65, 33}, []int{70, 33}, []int{70}),
		whole("Conv2D", func(in arguments) *tensor.Tensor { return tensor.Conv2D(in[0], in[1], in[2], window) }, []int{3, 8, 13, 11}, []int{16, 8, 3, 3}, []int{16}),
		whole("LayerNorm", func(in arguments) *tensor.Tensor { return tensor.LayerNorm(in[0], in[1], in[2], 1, 1e-5) }, []int{9, 130}, []int{130}, []int{130}),
		whole("RMSNorm", func(in arguments) *tensor.Tensor { return tensor.RMSNorm(in[0], in[1], 1, 1e-5) }, []int{9, 130}, []int{130}),
		whole("BatchNorm", func(in arguments) *tensor.Tensor {
			return tensor.BatchNorm(in[0], in[1], in[2], tensor.Zeros(6), tensor.Ones(6), 0.1, 1e-5, true)
		}, []int{4, 6, 9, 7}, []int{6}, []int{6}),
		whole("Attention of views", func(in arguments) *tensor.Tensor { // as nn.SelfAttention has them
			h := in[0].Reshape(2, 40, 3, 2, 64).Permute(2, 0, 3, 1, 4)
			part := func(i int) *tensor.Tensor { return h.Slice(0, i, i+1).Reshape(2, 2, 40, 64) }
			return tensor.Attention(part(0), part(1), part(2), true)
		}, []int{2, 40, 3 * 2 * 64}),
		whole("Attention across", func(in arguments) *tensor.Tensor {
			return tensor.MaskedAttention(in[0], in[1], in[2], tensor.AttentionMask{Lengths: tensor.FromInts([]int{19, 50}, 2)})
		}, []int{2, 3, 20, 64}, []int{2, 3, 50, 64}, []int{2, 3, 50, 64}),
		whole("ConvTranspose2D", func(in arguments) *tensor.Tensor {
			return tensor.ConvTranspose2D(in[0], in[1], nil, tensor.Window{Stride: [2]int{2, 2}}, [2]int{1, 1})
		}, []int{2, 6, 7, 5}, []int{6, 4, 3, 3}),
		whole("Attention", func(in arguments) *tensor.Tensor { return tensor.Attention(in[0], in[1], in[2], true) }, []int{2, 3, 37, 32}, []int{2, 3, 37, 32}, []int{2, 3, 37, 32}),
		op{name: "Linear, FP8", fp8: true, shapes: [][]int{{48, 160}, {80, 160}, {80}}, f: func(in arguments) *tensor.Tensor { return tensor.Linear(in[0], in[1], in[2]) }},
		op{name: "Round", shapes: [][]int{{7, 33}}, exact: true, f: func(in arguments) *tensor.Tensor { return in[0].MulScalar(4).Round() }},
		op{name: "Scatter", shapes: [][]int{{13, 17}, {13, 29}}, exact: true, f: func(in arguments) *tensor.Tensor { return in[0].Scatter(1, index(17, 13, 29), in[1]) }},
		op{name: "ArgMax", shapes: [][]int{{9, 65}}, exact: true, f: func(in arguments) *tensor.Tensor { return in[0].ArgMax(1).Cast(tensor.Float32) }},
		op{name: "OneHot", shapes: [][]int{{9, 65}}, exact: true, f: func(in arguments) *tensor.Tensor { return in[0].ArgMax(1).OneHot(65) }},
		op{name: "Cast", shapes: [][]int{{9, 65}}, exact: true, f: func(in arguments) *tensor.Tensor { return in[0].Cast(tensor.BFloat16).Cast(tensor.Float32) }},
	)
}

// largeOps returns ops that are large enough for NVIDIA's libraries, if they are installed.
func largeOps() []op {
	window := tensor.Window{Padding: [2]int{1, 1}}
	linear := func(in arguments) *tensor.Tensor { return tensor.Linear(in[0], in[1], in[2]).ReLU() }
	return []op{
		whole("MatMul, large", func(in arguments) *tensor.Tensor { return in[0].MatMul(in[1]) }, []int{256, 384}, []int{384, 192}),
		whole("MatMul batched, large", func(in arguments) *tensor.Tensor { return in[0].MatMul(in[1]) }, []int{6, 128, 96}, []int{6, 96, 160}),
		whole("Linear, large", linear, []int{320, 512}, []int{256, 512}, []int{256}),
		{name: "Conv2D, large", shapes: [][]int{{4, 32, 24, 24}, {64, 32, 3, 3}, {64}}, tolerance: toleranceWinograd,
			f: func(in arguments) *tensor.Tensor { return tensor.Conv2D(in[0], in[1], in[2], window) }},
		{name: "Linear, FP8, large", shapes: [][]int{{320, 512}, {256, 512}, {256}}, fp8: true, f: linear},
	}
}

// outcome is the result and the gradients of an op on one device.
type outcome [][]float32

// compute runs an op on the current device.
func (p *op) compute(device string, autocast bool) (o outcome, err error) {
	defer nn.Catch(&err)
	if err := accel.SetDevice(device); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(5, uint64(len(p.name))))
	var in arguments
	for _, shape := range p.shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(r.NormFloat64())
			if p.low > 0 {
				values[i] = float32(p.low + math.Abs(r.NormFloat64()))
			}
		}
		in = append(in, tensor.Parameter(tensor.New(values, shape...)))
	}
	d := tensor.Float32
	if autocast {
		d = tensor.BFloat16
	}
	var y *tensor.Tensor
	compute := func() { y = p.f(in).Cast(tensor.Float32) }
	if p.fp8 {
		tensor.AutocastFP8(compute)
	} else {
		tensor.Autocast(d, compute)
	}
	o = append(o, y.Data())
	if p.exact {
		return o, nil
	}
	weights := make([]float32, y.Numel())
	for i := range weights {
		weights[i] = float32(r.NormFloat64())
	}
	y.Mul(tensor.New(weights, y.Shape()...)).Sum().Backward()
	for _, x := range in {
		o = append(o, x.Grad().Data())
	}
	return o, nil
}

// difference returns the largest difference, relative to the largest value of its tensor.
func difference(a, b outcome) float64 {
	worst := 0.0
	for i := range a {
		scale := 1e-6
		for _, v := range b[i] {
			scale = max(scale, math.Abs(float64(v)))
		}
		for j := range a[i] {
			d := math.Abs(float64(a[i][j])-float64(b[i][j])) / scale
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			worst = max(worst, d)
		}
	}
	return worst
}

// Tolerances of the elements, relative to the largest value of their tensor. Float32 sums of
// some hundred values in another order differ in a few of their last bits, 2⁻²⁴ each, and sin,
// exp and log on the device by as much. Rounding to bfloat16 changes values by up to 2⁻⁹; where
// the values before it differ, it may round them differently, several times between input and
// gradient. Hopper's tensor cores accumulate FP8 products with 14 bits, which is a smaller
// error. For 3×3 windows cuDNN may use the Winograd transform, whose sums of sums lose a few
// more bits.
const (
	tolerance32       = 2e-5
	toleranceHalf     = 2e-2
	toleranceWinograd = 2e-4
)

// comparison is an op in its own precision or with autocast.
type comparison struct {
	op
	autocast bool
}

func (c comparison) String() string {
	if c.autocast && !c.fp8 {
		return c.name + " with autocast"
	}
	return c.name
}

func comparisons(quick bool) (out []comparison) {
	list := ops()
	if !quick {
		list = append(list, largeOps()...)
	}
	for _, p := range list {
		if !p.fp8 {
			out = append(out, comparison{p, false})
		}
		if !p.exact {
			out = append(out, comparison{p, true})
		}
	}
	return out
}

func checkOps(ctx context.Context, o options, r *report, out io.Writer) error {
	list := comparisons(o.quick)
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.String()
	}
	fp8Err := tensor.CheckFP8()
	if o.from == 0 {
		fmt.Fprintf(out, "%d comparisons\n", len(list))
		if fp8Err != nil {
			fmt.Fprintf(out, "no FP8: %v\n", fp8Err)
		}
	}
	return r.each(ctx, o, names, func(i int) error {
		p := list[i]
		if p.fp8 && fp8Err != nil {
			return nil
		}
		want, err := p.compute("cpu", p.autocast)
		if err != nil {
			return fmt.Errorf("%s on the CPU: %w", p.name, err)
		}
		c := checked{Op: p.name, Autocast: p.autocast, Tolerance: tolerance32}
		switch {
		case p.exact:
			c.Tolerance = 0
		case p.autocast:
			c.Tolerance = toleranceHalf
		case p.tolerance > 0:
			c.Tolerance = p.tolerance
		}
		if got, err := p.compute(o.device, p.autocast); err != nil {
			c.Error = err.Error()
		} else {
			c.Difference = difference(got, want)
		}
		r.add(c, out)
		return accel.SetDevice(o.device)
	})
}
