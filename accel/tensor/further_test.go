package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func furtherRows() []opRow {
	clamp := func(x float64) float64 { return math.Min(math.Max(x, -0.5), 1) }
	masks := func(name string, f func(a, b *Tensor) *Tensor, ref func(a, b float64) float64) opRow {
		positive := func(t *Tensor) *Tensor { return t.Greater(Zeros().Cast(t.DType())) }
		row := binaryRow(name, -2, 2, func(a, b *Tensor) *Tensor { return f(positive(a), positive(b)) },
			func(a, b float64) float64 { return ref(step(a), step(b)) })
		row.noGrad = true
		return row
	}
	floor := unaryRow("Floor", -3, 3, (*Tensor).Floor, math.Floor)
	floor.noGrad = true
	less := binaryRow("Less", -2, 2, (*Tensor).Less, func(a, b float64) float64 { return step(b - a) })
	less.noGrad = true
	rows := []opRow{floor, less,
		masks("And", (*Tensor).And, math.Min),
		masks("Or", (*Tensor).Or, math.Max),
		masks("Not", func(a, b *Tensor) *Tensor { return a.Not() }, func(a, b float64) float64 { return 1 - a }),
		unaryRow("SiLU", -5, 5, (*Tensor).SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }),
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
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	row := func(name string, nonEmpty bool, f func(*Tensor) *Tensor, ref func(in []array) array) opRow {
		return opRow{name: name, shapes: cube, low: -2, high: 2, nonEmpty: nonEmpty, ref: ref, f: func(in []*Tensor) *Tensor { return f(in[0]) }}
	}
	smallest := func(v []float64) float64 { return slices.Min(v) }
	norm := func(v []float64) float64 {
		s := 0.0
		for _, x := range v {
			s += x * x
		}
		return math.Sqrt(s)
	}
	variance := func(v []float64) float64 { _, s := moments(v); return s }
	running := func(v []float64) []float64 {
		out := slices.Clone(v)
		for i := 1; i < len(out); i++ {
			out[i] += out[i-1]
		}
		return out
	}
	all := func(f func([]float64) float64) func([]array) array {
		return func(in []array) array { return array{[]int{}, []float64{f(in[0].data)}} }
	}
	for a := range 3 {
		rows = append(rows,
			row(fmt.Sprint("Min ", a), true, func(t *Tensor) *Tensor { return t.Min(a) }, foldRef(a, smallest)),
			row(fmt.Sprint("CumSum ", a), false, func(t *Tensor) *Tensor { return t.CumSum(a) }, alongRef(a, running)),
			row(fmt.Sprint("Var ", a), true, func(t *Tensor) *Tensor { return t.Var(0, a) }, foldRef(a, variance)),
			row(fmt.Sprint("Norm ", a), true, func(t *Tensor) *Tensor { return t.Norm(a) }, foldRef(a, norm)),
			row(fmt.Sprint("LogSumExp ", a), true, func(t *Tensor) *Tensor { return t.LogSumExp(a) }, foldRef(a, logSumExp)))
	}
	std := row("Std", true, func(t *Tensor) *Tensor { return t.AddScalar(1).Mul(t).Std(1) }, all(func(v []float64) float64 {
		w := make([]float64, len(v))
		for i, x := range v {
			w[i] = (x + 1) * x
		}
		return math.Sqrt(variance(w) * float64(len(v)) / float64(len(v)-1))
	}))
	std.shapes = func(m, n, k int) [][]int { return [][]int{{m + 1, n + 1, k}} }
	return append(rows, std, row("Norm all", true, func(t *Tensor) *Tensor { return t.Norm() }, all(norm)))
}

// wideSizes are those of TestFloat64.
var broadcastSizes = [][3]int{{2, 3, 4}, {1, 1, 1}, {5, 1, 3}, {0, 3, 2}}

// TestFloat64 runs every op, and its gradient, on float64.
func TestFloat64(t *testing.T) {
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range broadcastSizes {
				if row.nonEmpty && s[0] == 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 17))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				for _, l := range layouts {
					float64Row(t, row, in, l, r, fmt.Sprintf("%s, sizes %v", l.name, s))
				}
			}
		})
	}
}

// float64Row looks at one op in one layout.
func float64Row(t *testing.T, row opRow, in []array, l layout, r *rand.Rand, ctx string) {
	t.Helper()
	var leaves, args []*Tensor
	for _, a := range in {
		leaf, x := l.lay(a)
		if row.noGrad {
			x = x.Cast(Float64)
		} else { // a leaf of its own, so that the gradient is not rounded
			wide := Parameter(leaf.Detach().Cast(Float64))
			leaf, x = wide, l.input(wide, len(a.shape))
		}
		leaves, args = append(leaves, leaf), append(args, x)
	}
	y := row.f(args)
	compare(t, ctx, y, row.ref(in), 1e-12)
	if row.noGrad || y.Numel() == 0 {
		return
	}
	if y.DType() != Float64 {
		t.Fatalf("%s: the result is %s", ctx, y.DType())
	}
	weight, want := slopes(row.ref, in, r)
	y.Mul(FromFloat64s(weight.data, weight.shape...)).Sum().Backward()
	for j, a := range in {
		if g := leaves[j].Grad(); g != nil {
			if g.DType() != Float64 {
				t.Fatalf("%s, input %d: the gradient is %s", ctx, j, g.DType())
			}
			compareSlopes(t, fmt.Sprintf("%s, input %d", ctx, j), l.back(g, len(a.shape)), want[j], 1e-8)
		} else if largest(absolute(want[j].data)) > 0 {
			t.Fatalf("%s, input %d: no gradient", ctx, j)
		}
	}
}

func TestOneHot(t *testing.T) {
	got := FromInts([]int{2, 0, 1, 2}, 2, 2).Cast(Uint8).OneHot(3)
	compare(t, "", got, array{[]int{2, 2, 3}, []float64{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}}, 0)
	var index *IndexError
	if err := catch(func() { FromInts([]int{3}, 1).OneHot(3) }); !errors.As(err, &index) || index.Index != 3 {
		t.Errorf("got %v", err)
	}
	late := FromInts([]int{-1}, 1).Cast(Float32).MulScalar(1).Cast(Int32).OneHot(3)
	if err := catch(func() { late.Data() }); !errors.As(err, &index) {
		t.Errorf("got %v", err)
	}
}

func TestSpecialReductions(t *testing.T) {
	inf := float32(math.Inf(1))
	x := New([]float32{-inf, -inf, 1000, 1000, inf, 0}, 3, 2)
	want := []float64{math.Inf(-1), 1000 + math.Ln2, math.Inf(1)}
	for i, g := range x.LogSumExp(1).Float64s() {
		if w := want[i]; g != w && !(math.Abs(g-w) <= 1e-4) {
			t.Errorf("LogSumExp %d is %v, want %v", i, g, w)
		}
	}
	p := Parameter(Zeros(3))
	n := p.Norm()
	n.Backward()
	if n.Item() != 0 || !slices.Equal(p.Grad().Data(), []float32{0, 0, 0}) {
		t.Errorf("the norm of zeros is %v with gradient %v", n.Item(), p.Grad())
	}
	if v := Ones(1).Var(1).Item(); v == v {
		t.Errorf("the variance of one element is %v", v)
	}
	q := Parameter(New([]float32{-1, 0, 1, 2}, 4))
	q.Clamp(0, 1).Sum().Backward()
	if got := q.Grad().Data(); !slices.Equal(got, []float32{0, 1, 1, 0}) {
		t.Errorf("Clamp's gradient is %v", got)
	}
}

func TestNoSlopeAtZero(t *testing.T) {
	for _, d := range []DType{Float32, Float64} {
		for name, f := range map[string]func(*Tensor) *Tensor{
			"Std":  func(x *Tensor) *Tensor { return x.Std(1, 1) },
			"Norm": func(x *Tensor) *Tensor { return x.Sub(Full(3, 1).Cast(d)).Norm(1) },
		} {
			p := Parameter(New([]float32{3, 3, 3, 4, 5, 3}, 2, 3).Cast(d).Detach().Clone())
			f(p).Sum().Backward()
			got := p.Grad().Float64s()
			for i, g := range got {
				if i < 3 && g != 0 || math.IsNaN(g) {
					t.Errorf("%s of %v: the gradient is %v; it is 0 where all numbers are equal", name, d, got)
					break
				}
			}
		}
	}
}
