package onnx_test

import (
	"math"
	"reflect"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// opRows tests the ops of package tensor. Each row is a function of its inputs for any batch size.
func opRows() []parity {
	type T = *tensor.Tensor
	x, y := randn(11, 2, 3, 4), randn(12, 2, 3, 4)
	positive := x.Abs().AddScalar(0.1)
	var rows []parity
	add := func(name string, function func(in []T) T, inputs []T, options ...onnx.Option) *parity {
		rows = append(rows, parity{
			name: "op " + name, examples: inputs, options: options, covers: []string{"tensor." + name},
			function: func(in []T) []T { return []T{function(in)} },
		})
		return &rows[len(rows)-1]
	}
	// named adds another row for an op.
	named := func(name, op string, function func(in []T) T, inputs []T, options ...onnx.Option) *parity {
		p := add(op, function, inputs, options...)
		p.name = "op " + name
		return p
	}
	unary := func(name string, f func(T) T, input T) { add(name, func(in []T) T { return f(in[0]) }, []T{input}) }
	unary("T", func(x T) T { return x.MatMul(randn(9, 5, 4).T()) }, x)
	unary("Log", T.Log, positive)
	unary("Sqrt", T.Sqrt, positive)
	unary("LeakyReLU", func(x T) T { return x.LeakyReLU(0.2) }, x)
	unary("ELU", func(x T) T { return x.ELU(1.3) }, x)
	unary("AddScalar", func(x T) T { return x.AddScalar(-1.5) }, x)
	unary("MulScalar", func(x T) T { return x.MulScalar(2.5) }, x)
	unary("PowScalar", func(x T) T { return x.PowScalar(1.7) }, positive)
	unary("Clamp", func(x T) T { return x.Clamp(-0.4, 0.7) }, x)
	unary("RequireFinite", func(x T) T { return x.RequireFinite("x").Neg() }, x)
	unary("Dropout", func(x T) T { return x.Dropout(0.5, nil, false).Neg() }, x)
	add("Div", func(in []T) T { return in[0].Div(in[1]) }, []T{x, positive})
	add("Pow", func(in []T) T { return in[0].Pow(in[1]) }, []T{positive, y})
	add("And", func(in []T) T { return in[0].ReLU().And(in[1].ReLU()) }, []T{x, y})
	add("Or", func(in []T) T { return in[0].ReLU().Or(in[1].ReLU()) }, []T{x, y})
	add("Where", func(in []T) T { return tensor.Where(in[0].Greater(in[1]), in[0], in[1].Neg()) }, []T{x, y})
	named("broadcasting", "Add", func(in []T) T { return in[0].Add(randn(3, 3, 1)).Mul(randn(4, 4)).Div(randn(5, 1, 1, 1)) }, []T{x})

	unary("Sum", func(x T) T { return x.Sum(-1) }, x)
	named("sum of two", "Sum", func(in []T) T { return in[0].Sum(0, 2) }, []T{x})
	named("sum of all", "Sum", func(in []T) T { return in[0].Sum() }, []T{x})
	unary("Mean", func(x T) T { return x.Mean(1) }, x)
	named("mean of all", "Mean", func(in []T) T { return in[0].Mean() }, []T{x})
	named("mean of the batch", "Mean", func(in []T) T { return in[0].Mean(0, 2) }, []T{x})
	unary("Var", func(x T) T { return x.Var(1, 1, 2) }, x)
	named("variance of the batch", "Var", func(in []T) T { return in[0].Var(0, 0) }, []T{x})
	p := named("variance of the batch as a sample", "Var", func(in []T) T { return in[0].Var(1, 0) }, []T{x})
	p.more = [][]T{{randn(1, 5, 3, 4)}, {randn(1, 17, 3, 4)}}
	unary("Std", func(x T) T { return x.Std(0, 2) }, x)
	unary("Norm", func(x T) T { return x.Norm(1) }, x)
	unary("Max", func(x T) T { return x.Max(1) }, x)
	unary("Min", func(x T) T { return x.Min(-1) }, x)
	unary("Max", func(x T) T { return x.Max() }, x)
	unary("Min", func(x T) T { return x.Min(0, -1) }, x)
	unary("ArgMax", func(x T) T { return x.ArgMax(1) }, x)
	unary("ArgMin", func(x T) T { return x.ArgMin(-1) }, x)
	unary("CumSum", func(x T) T { return x.CumSum(1) }, x)
	unary("Add", func(x T) T {
		i := x.MulScalar(10).Cast(tensor.Int32)
		return i.Mul(i).AddScalar(3).Maximum(i).Sum(1).Cast(tensor.Float32)
	}, x)
	unary("Prod", func(x T) T { return x.Prod(1, 2) }, x)
	named("numbers, most of them small", "Expm1", func(in []T) T { return in[0].Mul(in[0]).Mul(in[0]).MulScalar(1e-3).Expm1().MulScalar(1e3) }, []T{x})
	named("logarithms, most of them small", "Log1p", func(in []T) T { return in[0].Mul(in[0]).Mul(in[0]).MulScalar(1e-3).Log1p().MulScalar(1e3) }, []T{x})
	unary("Log1p", T.Log1p, positive)
	unary("Any", func(x T) T { return x.GreaterScalar(0.5).Any(-1) }, x)
	named("any of the batch", "Any", func(in []T) T { return in[0].GreaterScalar(0.5).Any(0, 2) }, []T{x})
	named("any integer", "Any", func(in []T) T { return in[0].Any(1) }, []T{tokens(2, 2, 4)})
	unary("All", func(x T) T { return x.GreaterScalar(-0.5).All(1, 2) }, x)
	add("MaskedFill", func(in []T) T { return in[0].MaskedFill(in[1].Greater(in[0]), -3) }, []T{x, y})
	infinite := x.MaskedFill(x.GreaterScalar(1), math.Inf(1)).MaskedFill(x.LessScalar(-1), math.NaN())
	unary("IsNaN", T.IsNaN, infinite)
	unary("IsInf", T.IsInf, infinite)
	unary("IsFinite", T.IsFinite, infinite)
	unary("Normalize", func(x T) T { return x.Normalize(2, 1) }, x)
	named("normalized by the largest", "Normalize", func(in []T) T { return in[0].Normalize(math.Inf(1), -1) }, []T{x})
	named("normalized by a sum", "Normalize", func(in []T) T { return in[0].Normalize(1, 0) }, []T{x})
	add("CosineSimilarity", func(in []T) T { return tensor.CosineSimilarity(in[0], in[1], -1) }, []T{x, y})
	add("CDist", func(in []T) T { return tensor.CDist(in[0], in[1]) }, []T{x, y})
	unary("LogSumExp", func(x T) T { return x.LogSumExp(2) }, x)
	unary("Softmax", func(x T) T { return x.Softmax(-1) }, x)
	named("softmax along 1", "Softmax", func(in []T) T { return in[0].Softmax(1) }, []T{x})
	unary("LogSoftmax", func(x T) T { return x.LogSoftmax(-1) }, x)
	unary("OneHot", func(x T) T { return x.OneHot(5) }, tokens(5, 2, 3))

	unary("Permute", func(x T) T { return x.Permute(2, 0, 1) }, x)
	unary("Reshape", func(x T) T { return x.Reshape(-1, 2, 2).Reshape(x.Size(0), 12) }, x)
	named("reshape of two axes", "Reshape", func(in []T) T {
		n, t := in[0].Size(0), in[0].Size(1)
		return in[0].Reshape(n*t, 2, 2).Permute(0, 2, 1).Reshape(n, t, 4).Permute(1, 0, 2).Reshape(t, 2, n, 2)
	}, []T{randn(1, 2, 6, 4)}, onnx.Axes(0, "batch", "time"))
	named("ones", "Reshape", func(in []T) T {
		n := in[0].Size(0)
		return in[0].Reshape(n, 1, 3, 1, 4).Reshape(n, 3, 4, 1).Reshape(1, n, 3, 4).Reshape(n, 3, 1, 4)
	}, []T{x})
	unary("Flatten", func(x T) T { return x.Flatten(1) }, x)
	unary("Slice", func(x T) T { return x.Slice(1, 1, 3) }, x)
	named("the last place", "Slice", func(in []T) T {
		t := in[0].Size(1)
		return in[0].Slice(1, t-1, t)
	}, []T{randn(1, 2, 6, 4)}, onnx.Axes(0, "batch", "time"))
	named("all but the first", "Slice", func(in []T) T { return in[0].Slice(1, 1, in[0].Size(1)) }, []T{randn(1, 2, 6, 4)}, onnx.Axes(0, "batch", "time"))
	named("half of a pair", "Slice", func(in []T) T {
		n := in[0].Size(0)
		both := tensor.Concat(0, in[0], in[0].Neg())
		return both.Slice(0, n, 2*n).Sub(both.Slice(0, 0, n))
	}, []T{x})
	unary("Squeeze", func(x T) T { return x.Reshape(x.Size(0), 1, 3, 1, 4).Squeeze(1, -2) }, x)
	unary("Flip", func(x T) T { return x.Flip(1, 2) }, x)
	named("batch from the end", "Flip", func(in []T) T { return in[0].Flip(0) }, []T{x})
	unary("Roll", func(x T) T { return x.Roll(-1, 2) }, x)
	named("batch moved by one", "Roll", func(in []T) T { return in[0].Roll(1, 0) }, []T{x})
	unary("Tile", func(x T) T { return x.Tile(2, 1, 3) }, x)
	unary("RepeatInterleave", func(x T) T { return x.RepeatInterleave(2, 1) }, x)
	named("repeated batch", "RepeatInterleave", func(in []T) T { return in[0].RepeatInterleave(3, 0) }, []T{x})
	named("parts", "Slice", func(in []T) T {
		parts := append(in[0].Split(3, 2), in[0].Chunk(2, 1)...)
		return parts[1].Mul(parts[0].Sum(-1).Unsqueeze(-1)).Add(parts[2].Sum(1, 2).Unsqueeze(-1).Unsqueeze(-1))
	}, []T{x})
	unary("Pad", func(x T) T { return x.Pad(1, 2, 1) }, x)
	named("pad of the batch", "Pad", func(in []T) T { return in[0].Pad(0, 1, 0) }, []T{x})
	named("pad by the batch", "Pad", func(in []T) T { return in[0].Pad(1, in[0].Size(0), 0) }, []T{x})
	unary("Expand", func(x T) T { return x.Reshape(x.Size(0), 1, 3, 4).Expand(x.Size(0), 5, 3, 4) }, x)
	add("Concat", func(in []T) T { return tensor.Concat(1, in[0], in[1], in[0]) }, []T{x, y})
	named("concat of batches", "Concat", func(in []T) T { return tensor.Concat(0, in[0], in[1]) }, []T{x, y})

	add("Stack", func(in []T) T { return tensor.Stack(1, in[0], in[1], in[0]) }, []T{x, y})
	named("stack of batches", "Stack", func(in []T) T { return tensor.Stack(0, in[0], in[1]) }, []T{x, y})

	add("Einsum", func(in []T) T { return tensor.Einsum("bij,bkj->bik", in[0], in[1]) }, []T{x, y})

	unary("Cast", func(x T) T { return x.MulScalar(3).Cast(tensor.Int32) }, x)
	for _, d := range []tensor.DType{tensor.Float64, tensor.Int64, tensor.Bool, tensor.Float16, tensor.BFloat16} {
		why := ""
		if d == tensor.BFloat16 {
			why = "onnxruntime's Python has no bfloat16 for inputs and outputs"
		}
		named("cast to "+d.String(), "Cast", func(in []T) T { return in[0].MulScalar(3).Cast(d) }, []T{x}).unrunnable = why
		named("cast there and back, "+d.String(), "Cast", func(in []T) T { return in[0].MulScalar(3).Cast(d).Cast(tensor.Float32) }, []T{x})
		named("cast from "+d.String(), "Cast", func(in []T) T { return in[0].Cast(tensor.Float32).Neg() }, []T{x.MulScalar(3).Cast(d)}).unrunnable = why
	}
	named("integers compared", "Eq", func(in []T) T { return in[0].Eq(in[1]).Add(in[0].Greater(in[1])) }, []T{tokens(3, 2, 4), tokens(3, 2, 4).Reshape(2, 4)})
	unary("EqScalar", func(x T) T { return x.EqScalar(3) }, tokens(5, 2, 4))
	unary("GreaterScalar", func(x T) T { return x.GreaterScalar(0.1) }, x)
	unary("LessScalar", func(x T) T { return x.LessScalar(0.1) }, x)
	named("bytes compared", "Less", func(in []T) T { return in[0].Less(tensor.FromBytes([]byte{3, 4, 0, 1}, 4)) }, []T{tokens(6, 2, 4).Cast(tensor.Uint8)})

	unary("IndexSelect", func(x T) T { return randn(9, 5, 3, 2).IndexSelect(x) }, tokens(5, 2, 3))
	unary("Embedding", func(x T) T { return tensor.Embedding(randn(9, 5, 3), x) }, tokens(5, 2, 3))
	named("rows of the batch", "IndexSelect", func(in []T) T { return in[0].IndexSelect(tensor.FromInts([]int{0, 0}, 2)) }, []T{x})
	add("IndexAdd", func(in []T) T { return in[0].IndexAdd(in[1], 5) }, []T{randn(9, 2, 3, 4), tokens(5, 2, 3)})
	named("scatter to the batch", "IndexAdd", func(in []T) T { return in[0].IndexAdd(in[1], in[0].Size(0)) }, []T{randn(9, 2, 3, 4), tokens(1, 2, 3)})

	add("Gather", func(in []T) T { return in[0].Gather(2, in[1]) }, []T{x, tokens(4, 2, 3, 5)})
	named("gather along the middle axis", "Gather", func(in []T) T { return in[0].Gather(1, in[1].Cast(tensor.Int64)) }, []T{x, tokens(3, 2, 2, 3)})
	named("gather along the first axis", "Gather", func(in []T) T { return in[0].T().Gather(0, in[1].T()) }, []T{randn(9, 2, 5), tokens(5, 2, 3)})
	add("ScatterAdd", func(in []T) T { return in[0].ScatterAdd(2, in[1], in[2]) }, []T{x, tokens(4, 2, 3, 5), randn(3, 2, 3, 5)})
	named("scatter along the middle axis", "ScatterAdd", func(in []T) T { return in[0].ScatterAdd(1, in[1], in[2]) }, []T{x, tokens(3, 2, 2, 3), y})
	add("Scatter", func(in []T) T { return in[0].Scatter(2, in[1], in[2]) }, []T{x, tokens(4, 2, 3, 5), randn(3, 2, 3, 5)})
	named("scattered along the middle axis", "Scatter", func(in []T) T { return in[0].Scatter(1, in[1], in[2]) }, []T{x, tokens(3, 2, 2, 3), y})
	unary("Median", func(x T) T { return x.Median(-1) }, x)
	named("median along the middle axis", "Median", func(in []T) T { return in[0].Median(1) }, []T{x})
	named("median of equal numbers", "Median", func(in []T) T { return in[0].Median(1) }, []T{tokens(3, 2, 5)})
	unary("Quantile", func(x T) T { return x.Quantile(0.3, -1) }, x)
	named("quantile nearer to the upper one", "Quantile", func(in []T) T { return in[0].Quantile(0.9, 1) }, []T{x})
	for name, f := range map[string]func(T) (values, indices T){
		"sorted": func(x T) (T, T) { return x.Sort(1, true) }, "sorted batch": func(x T) (T, T) { return x.Sort(0, false) },
		"largest": func(x T) (T, T) { return x.TopK(2, -1, true) }, "smallest of 16 bits": func(x T) (T, T) { return x.Cast(tensor.Float16).TopK(2, 2, false) },
		"equal ones": func(x T) (T, T) { return x.Sign().TopK(3, 2, true) },
	} {
		p := named(name, "Sort", nil, []T{x})
		p.function = func(in []T) []T {
			values, indices := f(in[0])
			return []T{values, indices}
		}
	}
	unary("BinCount", func(x T) T { return x.BinCount(5) }, tokens(5, 2, 3))

	add("MatMul", func(in []T) T { return in[0].MatMul(in[1]) }, []T{x, randn(2, 2, 4, 5)})
	named("product with a matrix", "MatMul", func(in []T) T { return in[0].MatMul(randn(2, 4, 5)) }, []T{randn(2, 2, 6, 4)}, onnx.Axes(0, "batch", "time"))
	named("product of broadcast batches", "MatMul", func(in []T) T { return in[0].Reshape(in[0].Size(0), 1, 3, 4).MatMul(randn(2, 5, 4, 2)) }, []T{x})
	unary("Linear", func(x T) T { return tensor.Linear(x, randn(2, 5, 4), randn(3, 5)) }, x)
	unary("Conv2D", func(x T) T {
		return tensor.Conv2D(x, randn(2, 4, 1, 3, 2), randn(3, 4), tensor.Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 0}, Dilation: [2]int{1, 2}, Groups: 4})
	}, randn(4, 2, 4, 7, 8))
	unary("ConvTranspose2D", func(x T) T {
		return tensor.ConvTranspose2D(x, randn(2, 4, 3, 3, 2), randn(3, 6), tensor.Window{Stride: [2]int{2, 3}, Padding: [2]int{1, 0}, Groups: 2}, [2]int{1, 2})
	}, randn(4, 2, 4, 5, 3))
	row := tensor.Window{Stride: [2]int{1, 2}, Padding: [2]int{0, 1}}
	unary("Conv1D", func(x T) T { return tensor.Conv1D(x, randn(2, 6, 4, 3), randn(3, 6), row) }, randn(4, 2, 4, 7))
	unary("ConvTranspose1D", func(x T) T { return tensor.ConvTranspose1D(x, randn(2, 4, 3, 4), randn(3, 3), row, 1) }, randn(4, 2, 4, 7))
	unary("Conv3D", func(x T) T {
		return tensor.Conv3D(x, randn(2, 6, 2, 2, 3, 2), randn(3, 6), tensor.Window3D{Stride: [3]int{2, 1, 1}, Padding: [3]int{1, 1, 0}, Groups: 2})
	}, randn(4, 2, 4, 5, 4, 3))
	unary("UpsampleNearest", func(x T) T { return tensor.UpsampleNearest(x, 2) }, randn(4, 2, 3, 4, 5))
	unary("UpsampleBilinear", func(x T) T { return tensor.UpsampleBilinear(x, 2) }, randn(4, 2, 3, 4, 5))
	unary("MaxPool2D", func(x T) T {
		return tensor.MaxPool2D(x, [2]int{3, 2}, tensor.Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 2}})
	}, randn(4, 2, 4, 7, 8))
	unary("AvgPool2D", func(x T) T {
		return tensor.AvgPool2D(x, [2]int{3, 2}, tensor.Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}})
	}, randn(4, 2, 4, 7, 8))
	unary("GlobalAvgPool2D", tensor.GlobalAvgPool2D, randn(4, 2, 4, 7, 8))
	unary("LayerNorm", func(x T) T { return tensor.LayerNorm(x, randn(1, 3, 4), nil, 2, 1e-3) }, x)
	unary("RMSNorm", func(x T) T { return tensor.RMSNorm(x, nil, 1, 1e-3) }, x)
	unary("BatchNorm", func(x T) T {
		return tensor.BatchNorm(x, nil, randn(1, 3), randn(2, 3), randn(3, 3).Abs(), 0.1, 1e-3, false)
	}, x)
	named("norm by the batch itself", "BatchNorm", func(in []T) T { return tensor.BatchNorm(in[0], randn(1, 3), nil, nil, nil, 0.1, 1e-3, false) }, []T{x})

	unary("RotaryEmbedding", func(x T) T { return tensor.RotaryEmbedding(x, tensor.FromInts([]int{3, 4, 5}, 3), 100) }, randn(4, 2, 2, 3, 6))
	heads := []T{randn(1, 2, 2, 6, 4), randn(2, 2, 2, 6, 4), randn(3, 2, 2, 6, 3)}
	times := []onnx.Option{onnx.Axes(0, "batch", "", "time"), onnx.Axes(1, "batch", "", "seen"), onnx.Axes(2, "batch", "", "seen")}
	lengths := [][]T{heads, {randn(1, 3, 2, 4, 4), randn(2, 3, 2, 7, 4), randn(3, 3, 2, 7, 3)}, {randn(1, 1, 2, 5, 4), randn(2, 1, 2, 1, 4), randn(3, 1, 2, 1, 3)}}
	add("Attention", func(in []T) T { return tensor.Attention(in[0], in[1], in[2], false) }, heads, times...).more = lengths
	named("causal attention", "Attention", func(in []T) T { return tensor.Attention(in[0], in[1], in[2], true) }, heads, times...).more = lengths
	add("MaskedAttention", func(in []T) T {
		return tensor.MaskedAttention(in[0], in[1], in[2], tensor.AttentionMask{Causal: true, Lengths: in[3]})
	}, append(heads[:3:3], tensor.FromInts([]int{3, 0}, 2)), times...)
	named("attention with a mask", "MaskedAttention", func(in []T) T {
		return tensor.MaskedAttention(in[0], in[1], in[2], tensor.AttentionMask{Mask: in[3]})
	}, append(heads[:3:3], tokens(2, 2, 1, 6, 6)))
	named("attention with a bias", "MaskedAttention", func(in []T) T {
		return tensor.MaskedAttention(in[0], in[1], in[2], tensor.AttentionMask{Bias: randn(4, 6, 6), Causal: true})
	}, heads)

	p = add("CrossEntropy", func(in []T) T { return tensor.CrossEntropy(in[0], in[1]) }, []T{randn(1, 2, 5), tokens(5, 2)})
	p.covers = append(p.covers, "tensor.CrossEntropy")
	add("MaskedCrossEntropy", func(in []T) T { return tensor.MaskedCrossEntropy(in[0], in[1], 1) }, []T{randn(1, 6, 5), tokens(5, 6)})
	add("MSE", func(in []T) T { return tensor.MSE(in[0], in[1]) }, []T{x, y})
	loss := func(name string, f func(in []T) T, inputs ...T) {
		add("MSE", f, inputs).name = "loss " + name
		rows[len(rows)-1].covers = []string{name}
	}
	loss("L1", func(in []T) T { return nn.L1(in[0], in[1]) }, x, y)
	loss("NLL", func(in []T) T { return nn.NLL(in[0].LogSoftmax(-1), in[1]) }, randn(1, 6, 5), tokens(5, 6))
	loss("BCEWithLogits", func(in []T) T { return nn.BCEWithLogits(in[0], in[1].Sigmoid()) }, x, y)
	loss("KLDiv", func(in []T) T { return nn.KLDiv(in[0].LogSoftmax(-1), in[1].Softmax(-1)) }, randn(1, 6, 5), randn(2, 6, 5))
	loss("WeightedMean", func(in []T) T { return nn.WeightedMean(in[0], in[1].Sigmoid()) }, randn(1, 6, 5), randn(2, 6, 5))
	loss("TripletMargin", func(in []T) T { return nn.TripletMargin(in[0], in[1], in[2], 1) }, randn(1, 6, 5), randn(2, 6, 5), randn(3, 6, 5))
	loss("CosineEmbedding", func(in []T) T { return nn.CosineEmbedding(in[0], in[1], in[2].Sign(), 0.5) }, randn(1, 6, 5), randn(2, 6, 5), randn(3, 6))
	loss("GaussianKL", func(in []T) T { return nn.GaussianKL(in[0], in[1]) }, randn(1, 6, 5), randn(2, 6, 5))
	loss("GaussianNLL", func(in []T) T { return nn.GaussianNLL(in[0], in[1], in[2].Exp()) }, randn(1, 6, 5), randn(2, 6, 5), randn(3, 6, 1))
	loss("PoissonNLL", func(in []T) T { return nn.PoissonNLL(in[0], in[1].Abs()) }, randn(1, 6, 5), randn(2, 6, 5))
	loss("MarginRanking", func(in []T) T { return nn.MarginRanking(in[0], in[1], in[2].Sign(), 0.5) }, x, y, x.Add(y))
	add("Recompute", func(in []T) T {
		return tensor.Recompute(func(in []T) T { return in[0].Exp().Mul(in[1]) }, in[0], in[1])
	}, []T{x, y})

	covered := map[string]bool{}
	for _, p := range rows {
		for _, name := range p.covers {
			covered[name] = true
		}
	}
	for m := range reflect.TypeFor[T]().Methods() { // all others of tensors, with 1 for integers and false for flags
		if name := "tensor." + m.Name; covered[name] || notExported[name] != "" {
			continue
		}
		f := m.Func.Type()
		inputs, arguments := []T{}, make([]reflect.Value, f.NumIn())
		fits := f.NumOut() > 0 && f.Out(0) == reflect.TypeFor[T]() && !f.IsVariadic()
		for i := range arguments {
			switch p := f.In(i); p.Kind() {
			case reflect.Int:
				arguments[i] = reflect.ValueOf(1)
			case reflect.Bool:
				arguments[i] = reflect.ValueOf(false)
			default:
				fits = fits && p == reflect.TypeFor[T]()
				inputs = append(inputs, []T{x, y}[min(len(inputs), 1)])
			}
		}
		if !fits {
			continue
		}
		add(m.Name, func(in []T) T {
			arguments := slices.Clone(arguments)
			for i := range arguments {
				if !arguments[i].IsValid() {
					arguments[i], in = reflect.ValueOf(in[0]), in[1:]
				}
			}
			return m.Func.Call(arguments)[0].Interface().(T)
		}, inputs).derived = true
	}
	return rows
}
