package onnx_test

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// nonFiniteRows tests ops on NaN and infinities, except for the deviations that doc.go lists.
func nonFiniteRows() []parity {
	type T = *tensor.Tensor
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := tensor.New([]float32{nan, inf, -inf, 0, -1, 2, nan, 3}, 2, 4)
	y := tensor.New([]float32{1, nan, 2, nan, inf, -inf, 0, 3}, 2, 4)
	var rows []parity
	for name, f := range map[string]func(a, b T) T{
		"Maximum": T.Maximum, "Minimum": T.Minimum, "Eq": T.Eq, "Greater": T.Greater, "Pow": T.Pow, "Div": T.Div,
		"Where":     func(a, b T) T { return tensor.Where(a, a, b) },
		"ReLU":      func(a, _ T) T { return a.ReLU() },
		"Clamp":     func(a, _ T) T { return a.Clamp(-1, 1) },
		"LeakyReLU": func(a, _ T) T { return a.LeakyReLU(0.1) },
		"ELU":       func(a, _ T) T { return a.ELU(1) },
		"SiLU":      func(a, _ T) T { return a.SiLU() },
		"Sigmoid":   func(a, _ T) T { return a.Sigmoid() },
		"Tanh":      func(a, _ T) T { return a.Tanh() },
		"Floor":     func(a, _ T) T { return a.Floor() },
		"Not":       func(a, _ T) T { return a.Not() },
		"Sum":       func(a, _ T) T { return a.Sum(1) },
		"Mean":      func(a, _ T) T { return a.Mean(1) },
		"Norm":      func(a, _ T) T { return a.Norm(1) },
		"Softmax":   func(a, _ T) T { return a.Softmax(1) },
		"LogSumExp": func(a, _ T) T { return a.LogSumExp(1) },
		"LayerNorm": func(a, _ T) T { return tensor.LayerNorm(a, nil, nil, 1, 1e-5) },
		"to bool":   func(a, _ T) T { return a.Cast(tensor.Bool) },
		"beyond the range of float16": func(a, _ T) T {
			return a.MulScalar(1e5).Cast(tensor.Float16)
		},
	} {
		rows = append(rows, parity{name: "not finite, " + name, examples: []T{x, y}, function: func(in []T) []T { return one(f(in[0], in[1])) }, more: [][]T{}})
	}
	return rows
}
