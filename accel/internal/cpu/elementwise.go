package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// elementwise computes d from up to three inputs of d's length and a scalar.
type elementwise func(v *vectors, d, a, b, c []float32, s float32)

// elementwiseOps are the elementwise ops with vectorized code, by type; scalarOps implement
// the others.
var elementwiseOps = byType([]row[elementwise]{
	{ir.Abs{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.abs(d, a) }},
	{ir.Add{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.add(d, a, b) }},
	{ir.AddScalar{}, func(v *vectors, d, a, _, _ []float32, s float32) { v.addScalar(d, a, s) }},
	{ir.Cast{}, func(_ *vectors, d, a, _, _ []float32, _ float32) { copy(d, a) }},
	{ir.Div{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.div(d, a, b) }},
	{ir.Eq{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.equal(d, a, b) }},
	{ir.Exp{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.exp(d, a) }},
	{ir.Fill{}, func(_ *vectors, d, _, _, _ []float32, s float32) { fill(d, s) }},
	{ir.GELU{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.gelu(d, a) }},
	{ir.GELUGradient{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.geluGradient(d, a, b) }},
	{ir.Greater{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.greater(d, a, b) }},
	{ir.Log{}, func(_ *vectors, d, a, _, _ []float32, _ float32) { logarithm(d, a) }},
	{ir.Maximum{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.maximum(d, a, b) }},
	{ir.Mul{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.mul(d, a, b) }},
	{ir.MulScalar{}, func(v *vectors, d, a, _, _ []float32, s float32) { v.mulScalar(d, a, s) }},
	{ir.Neg{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.mulScalar(d, a, -1) }},
	{ir.PowScalar{}, func(_ *vectors, d, a, _, _ []float32, s float32) { power(d, a, s) }},
	{ir.ReLU{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.relu(d, a) }},
	{ir.ReLUGradient{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.reluGradient(d, a, b) }},
	{ir.Sigmoid{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.sigmoid(d, a) }},
	{ir.Sqrt{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.sqrt(d, a) }},
	{ir.Square{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.mul(d, a, a) }},
	{ir.Sub{}, func(v *vectors, d, a, b, _ []float32, _ float32) { v.sub(d, a, b) }},
	{ir.Tanh{}, func(v *vectors, d, a, _, _ []float32, _ float32) { v.tanh(d, a) }},
	{ir.Where{}, func(_ *vectors, d, m, a, b []float32, _ float32) { where(d, m, a, b) }},
})
