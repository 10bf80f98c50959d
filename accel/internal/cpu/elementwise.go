package cpu

// elementwise computes d from up to three inputs of d's length and a scalar.
type elementwise func(v *vectors, d, a, b, c []float32, s float32)

// elementwiseOps are the elementwise ops with vectorized code, by name; scalarOps implement
// the others.
var elementwiseOps = map[string]elementwise{
	"Abs":          func(v *vectors, d, a, _, _ []float32, _ float32) { v.abs(d, a) },
	"Add":          func(v *vectors, d, a, b, _ []float32, _ float32) { v.add(d, a, b) },
	"AddScalar":    func(v *vectors, d, a, _, _ []float32, s float32) { v.addScalar(d, a, s) },
	"Cast":         func(_ *vectors, d, a, _, _ []float32, _ float32) { copy(d, a) },
	"Div":          func(v *vectors, d, a, b, _ []float32, _ float32) { v.div(d, a, b) },
	"Eq":           func(v *vectors, d, a, b, _ []float32, _ float32) { v.equal(d, a, b) },
	"Exp":          func(v *vectors, d, a, _, _ []float32, _ float32) { v.exp(d, a) },
	"Fill":         func(_ *vectors, d, _, _, _ []float32, s float32) { fill(d, s) },
	"GELU":         func(v *vectors, d, a, _, _ []float32, _ float32) { v.gelu(d, a) },
	"GELUGradient": func(v *vectors, d, a, b, _ []float32, _ float32) { v.geluGradient(d, a, b) },
	"Greater":      func(v *vectors, d, a, b, _ []float32, _ float32) { v.greater(d, a, b) },
	"Log":          func(_ *vectors, d, a, _, _ []float32, _ float32) { logarithm(d, a) },
	"Maximum":      func(v *vectors, d, a, b, _ []float32, _ float32) { v.maximum(d, a, b) },
	"Mul":          func(v *vectors, d, a, b, _ []float32, _ float32) { v.mul(d, a, b) },
	"MulScalar":    func(v *vectors, d, a, _, _ []float32, s float32) { v.mulScalar(d, a, s) },
	"Neg":          func(v *vectors, d, a, _, _ []float32, _ float32) { v.mulScalar(d, a, -1) },
	"PowScalar":    func(_ *vectors, d, a, _, _ []float32, s float32) { power(d, a, s) },
	"ReLU":         func(v *vectors, d, a, _, _ []float32, _ float32) { v.relu(d, a) },
	"ReLUGradient": func(v *vectors, d, a, b, _ []float32, _ float32) { v.reluGradient(d, a, b) },
	"SiLU":         func(v *vectors, d, a, _, _ []float32, _ float32) { silu(v, d, a) },
	"Sigmoid":      func(v *vectors, d, a, _, _ []float32, _ float32) { v.sigmoid(d, a) },
	"Sqrt":         func(v *vectors, d, a, _, _ []float32, _ float32) { v.sqrt(d, a) },
	"Square":       func(v *vectors, d, a, _, _ []float32, _ float32) { v.mul(d, a, a) },
	"Sub":          func(v *vectors, d, a, b, _ []float32, _ float32) { v.sub(d, a, b) },
	"Tanh":         func(v *vectors, d, a, _, _ []float32, _ float32) { v.tanh(d, a) },
	"Where":        func(_ *vectors, d, m, a, b []float32, _ float32) { where(d, m, a, b) },
}
