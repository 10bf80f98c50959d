package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

var cellNames = map[ir.Cell]string{ir.TanhCell: "TanhCell", ir.ReLUCell: "ReLUCell", ir.LSTMCell: "LSTMCell", ir.GRUCell: "GRUCell"}

// recurrenceRows compares each cell with its formula; results are y, h and c, one after the other.
func recurrenceRows() []opRow {
	var rows []opRow
	for cell, name := range cellNames {
		for _, reverse := range []bool{false, true} {
			rows = append(rows, opRow{
				name: fmt.Sprintf("%s, reverse %v", name, reverse), low: -1, high: 1, nonEmpty: true,
				shapes: func(m, n, k int) [][]int {
					m, n, k = min(m, 6), min(n, 20), min(k, 20)
					shapes := [][]int{{m, n, cell.Gates() * k}, {cell.Gates() * k, k}, {n, k}}
					switch cell {
					case ir.LSTMCell:
						shapes = append(shapes, []int{n, k})
					case ir.GRUCell:
						shapes = append(shapes, []int{3 * k})
					}
					return shapes
				},
				f: func(in []*Tensor) *Tensor {
					r := tensors.Recurrence[*Tensor]{Cell: cell, X: in[0], Weight: in[1], H: in[2], Reverse: reverse}
					switch cell {
					case ir.LSTMCell:
						r.C = in[3]
					case ir.GRUCell:
						r.Bias = in[3]
					}
					y, h, c := r.Run()
					all := []*Tensor{y.Reshape(-1), h.Reshape(-1)}
					if c != nil {
						all = append(all, c.Reshape(-1))
					}
					return Concat(0, all...)
				},
				ref: func(in []array) array { return recurrenceRef(cell, reverse, in) },
			})
		}
	}
	return rows
}

// recurrenceRef is the formula of a cell, in float64.
func recurrenceRef(cell ir.Cell, reverse bool, in []array) array {
	steps, n, k := in[0].shape[0], in[0].shape[1], in[2].shape[1]
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	y := make([]float64, steps*n*k)
	var finalH, finalC []float64
	for b := range n {
		h, c := make([]float64, k), make([]float64, k)
		for j := range k {
			h[j] = in[2].get(b, j)
			if cell == ir.LSTMCell {
				c[j] = in[3].get(b, j)
			}
		}
		for i := range steps {
			t := i
			if reverse {
				t = steps - 1 - i
			}
			x := func(g int) float64 { return in[0].get(t, b, g) }
			part := func(g int) (sum float64) {
				for j := range k {
					sum += in[1].get(g, j) * h[j]
				}
				if cell == ir.GRUCell {
					sum += in[3].get(g)
				}
				return sum
			}
			nextH, nextC := make([]float64, k), make([]float64, k)
			for j := range k {
				switch cell {
				case ir.TanhCell:
					nextH[j] = math.Tanh(x(j) + part(j))
				case ir.ReLUCell:
					nextH[j] = max(0, x(j)+part(j))
				case ir.LSTMCell:
					gate := func(g int) float64 { return x(g*k+j) + part(g*k+j) }
					nextC[j] = sigmoid(gate(1))*c[j] + sigmoid(gate(0))*math.Tanh(gate(2))
					nextH[j] = sigmoid(gate(3)) * math.Tanh(nextC[j])
				case ir.GRUCell:
					r, z := sigmoid(x(j)+part(j)), sigmoid(x(k+j)+part(k+j))
					nextH[j] = (1-z)*math.Tanh(x(2*k+j)+r*part(2*k+j)) + z*h[j]
				}
			}
			h, c = nextH, nextC
			copy(y[(t*n+b)*k:], h)
		}
		finalH, finalC = append(finalH, h...), append(finalC, c...)
	}
	y = append(y, finalH...)
	if cell == ir.LSTMCell {
		y = append(y, finalC...)
	}
	return array{[]int{len(y)}, y}
}

// TestRecurrenceEqualsItsSteps compares the kernel, its gradients and padding with the steps from
// other ops, also for weights that are packed in several blocks.
func TestRecurrenceEqualsItsSteps(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {4, 5, 7}, {3, 17, 150}, {2, 2, 530}} {
		eachRecurrence(t, func(t *testing.T, cell ir.Cell, variant string) {
			compareWithSteps(t, cell, size, variant, Float32, 1e-5)
		})
	}
}

// TestRecurrenceIn16Bits compares the kernel, which rounds the states, with steps whose every op
// rounds.
func TestRecurrenceIn16Bits(t *testing.T) {
	for d, tolerance := range map[DType]float64{BFloat16: .04, Float16: .005} {
		t.Run(d.String(), func(t *testing.T) {
			eachRecurrence(t, func(t *testing.T, cell ir.Cell, variant string) {
				compareWithSteps(t, cell, [3]int{3, 5, 9}, variant, d, tolerance)
			})
		})
	}
}

// TestTypesOfRecurrence checks the types of results, and that mixed types are computed step by step.
func TestTypesOfRecurrence(t *testing.T) {
	for _, row := range []struct {
		x, w, cast, want DType
		whole            bool
	}{
		{Float32, Float32, Float32, Float32, true},
		{BFloat16, BFloat16, Float32, BFloat16, true},
		{Float16, Float16, Float32, Float16, true},
		{BFloat16, Float32, BFloat16, BFloat16, true},
		{Float32, Float16, BFloat16, BFloat16, true},
		{Float32, BFloat16, Float32, Float32, false},
		{Float64, Float64, Float32, Float64, false},
		{Float64, Float64, BFloat16, Float64, false},
	} {
		for cell, name := range cellNames {
			r := tensors.Recurrence[*Tensor]{Cell: cell, X: Ones(2, 3, cell.Gates()*4).Cast(row.x), Weight: Ones(cell.Gates()*4, 4).Cast(row.w), Lengths: FromInts([]int{1, 2, 1}, 3)}
			Autocast(row.cast, func() {
				if _, whole := (*recurrence)(&r).factor(); whole != row.whole {
					t.Errorf("%s of %v: one op is %v", name, row, whole)
				}
				y, h, c := r.Run()
				for _, out := range []*Tensor{y, h, c} {
					if out != nil && out.DType() != row.want {
						t.Errorf("%s of %v has a result of %v", name, row, out.DType())
					}
				}
			})
		}
	}
}

// eachRecurrence runs a test for each cell and variant.
func eachRecurrence(t *testing.T, f func(t *testing.T, cell ir.Cell, variant string)) {
	for cell, name := range cellNames {
		for _, variant := range []string{"", "reverse", "lengths", "reverse lengths", "no state"} {
			t.Run(name+" "+variant, func(t *testing.T) { f(t, cell, variant) })
		}
	}
}

// compareWithSteps computes T, N and H of size under Autocast.
func compareWithSteps(t *testing.T, cell ir.Cell, size [3]int, variant string, cast DType, tolerance float64) {
	t.Helper()
	steps, n, hidden := size[0], size[1], size[2]
	random := rand.New(rand.NewPCG(3, 4))
	input := func(scale float64, shape ...int) array {
		return randomArray(random, -scale, scale, shape...)
	}
	scale := 1 / math.Sqrt(float64(hidden))
	gates := cell.Gates() * hidden
	x, w, b := input(1, steps, n, gates), input(scale, gates, hidden), input(1, gates)
	h, c := input(1, n, hidden), input(1, n, hidden)
	slopes := [3]array{input(1, steps, n, hidden), input(1, n, hidden), input(1, n, hidden)}
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = 1 + i%steps
	}
	run := func(compute func(r tensors.Recurrence[*Tensor]) (y, h, c *Tensor)) (results [][]float64) {
		var all []*Tensor
		parameter := func(a array) *Tensor {
			p := Parameter(New(a.floats(), a.shape...))
			all = append(all, p)
			return p
		}
		r := tensors.Recurrence[*Tensor]{Cell: cell, X: parameter(x), Weight: parameter(w)}
		if variant != "no state" {
			r.H = parameter(h)
			switch cell {
			case ir.LSTMCell:
				r.C = parameter(c)
			case ir.GRUCell:
				r.Bias = parameter(b)
			}
		}
		r.Reverse = variant == "reverse" || variant == "reverse lengths"
		if variant == "lengths" || variant == "reverse lengths" {
			r.Lengths = FromInts(lengths, n)
		}
		var y, nextH, nextC *Tensor
		Autocast(cast, func() { y, nextH, nextC = compute(r) })
		loss := Zeros()
		for i, out := range []*Tensor{y, nextH, nextC} {
			if out != nil {
				results = append(results, out.Float64s())
				loss = loss.Add(out.Mul(New(slopes[i].floats(), slopes[i].shape...)).Sum())
			}
		}
		if cell == ir.ReLUCell && cast != Float32 {
			return results // rounding may move a value to the other side of 0
		}
		loss.Backward()
		for _, p := range all {
			g := p.Grad()
			if g == nil {
				t.Fatalf("a parameter of shape %v has no gradient", p.Shape())
			}
			results = append(results, g.Float64s())
		}
		return results
	}
	got := run(func(r tensors.Recurrence[*Tensor]) (y, h, c *Tensor) { return r.Run() })
	want := run(func(r tensors.Recurrence[*Tensor]) (y, h, c *Tensor) { return (*recurrence)(&r).steps() })
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if !(math.Abs(got[i][j]-want[i][j]) <= tolerance*(1+math.Abs(want[i][j]))) {
				t.Fatalf("size %v, result %d, element %d: got %v, want %v", size, i, j, got[i][j], want[i][j])
			}
		}
	}
}
