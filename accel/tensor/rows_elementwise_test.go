package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// elementwiseRows are ops besides those of opRows.
func elementwiseRows() []opRow {
	clamp := func(x float64) float64 { return math.Min(math.Max(x, -0.5), 1) }
	masks := func(name string, f func(a, b *Tensor) *Tensor, ref func(a, b float64) float64) opRow {
		positive := func(t *Tensor) *Tensor { return t.Greater(Zeros().Cast(t.DType())) }
		row := binaryRow(name, -2, 2, func(a, b *Tensor) *Tensor { return f(positive(a), positive(b)) },
			func(a, b float64) float64 { return ref(step(a), step(b)) })
		row.noGrad = true
		return row
	}
	less := binaryRow("Less", -2, 2, (*Tensor).Less, func(a, b float64) float64 { return step(b - a) })
	less.noGrad = true
	scalar := func(name string, f func(*Tensor, float64) *Tensor, ref func(x float64) float64) opRow {
		row := unaryRow(name, -2, 2, func(t *Tensor) *Tensor { return f(t, 0.1) }, ref)
		row.noGrad = true
		return row
	}
	rows := []opRow{less,
		scalar("GreaterScalar", (*Tensor).GreaterScalar, func(x float64) float64 { return step(x - 0.1) }),
		scalar("LessScalar", (*Tensor).LessScalar, func(x float64) float64 { return step(0.1 - x) }),
		scalar("EqScalar", func(t *Tensor, s float64) *Tensor { return t.Eq(t).EqScalar(1) }, func(float64) float64 { return 1 }),
		unaryRow("Floor", -3, 3, (*Tensor).Floor, math.Floor),
		masks("And", (*Tensor).And, math.Min),
		masks("Or", (*Tensor).Or, math.Max),
		masks("Not", func(a, b *Tensor) *Tensor { return a.Not() }, func(a, b float64) float64 { return 1 - a }),
		unaryRow("LeakyReLU", -2, 2, func(t *Tensor) *Tensor { return t.LeakyReLU(0.1) }, func(x float64) float64 { return math.Max(x, 0.1*x) }),
		unaryRow("ELU", -3, 3, func(t *Tensor) *Tensor { return t.ELU(1.5) }, func(x float64) float64 {
			return math.Max(x, 0) + 1.5*(math.Exp(math.Min(x, 0))-1)
		}),
		unaryRow("Sin", -4, 4, (*Tensor).Sin, math.Sin),
		unaryRow("Cos", -4, 4, (*Tensor).Cos, math.Cos),
		unaryRow("Clamp", -2, 2, func(t *Tensor) *Tensor { return t.Clamp(-0.5, 1) }, clamp),
		binaryRow("Minimum", -2, 2, (*Tensor).Minimum, math.Min),
		binaryRow("Pow", 0.3, 2, (*Tensor).Pow, math.Pow),
	}
	for _, r := range []opRow{
		binaryRow("Minimum row", -2, 2, (*Tensor).Minimum, math.Min),
		binaryRow("Pow row", 0.3, 2, (*Tensor).Pow, math.Pow),
	} {
		r.shapes = func(m, n, k int) [][]int { return [][]int{{m, n}, {n}} }
		rows = append(rows, r)
	}
	return rows
}

// withFormulas adds rows of the methods for ops with a formula, which is their reference;
// TestAgainstTorch compares the formula itself.
func withFormulas(rows []opRow) []opRow {
	byName := map[string]opRow{}
	for _, r := range rows {
		byName[r.name] = r
	}
	for _, op := range ir.Table() {
		f, ok := ir.FormulaOf(op)
		m := methods[op.Name()]
		if _, exists := byName[op.Name()]; !ok || exists || m.call == nil {
			continue
		}
		evaluate := func(x ...float64) float64 {
			a := ir.Arithmetic[float64]{
				Inputs:   x,
				Constant: func(v float64) float64 { return v },
				Apply:    func(op ir.Op, x []float64) float64 { return byName[op.Name()].scalar(x) },
			}
			return a.Evaluate(f)
		}
		row := opRow{name: op.Name(), low: -5, high: 5, f: m.call, noGrad: !ir.Differentiable(op),
			shapes: func(rows, columns, _ int) [][]int { return slices.Repeat([][]int{{rows, columns}}, m.arity) }}
		if row.ref = mapRef(func(x float64) float64 { return evaluate(x) }); m.arity == 2 {
			row.ref = zipRef(func(x, y float64) float64 { return evaluate(x, y) })
		}
		rows = append(rows, row)
	}
	return rows
}
