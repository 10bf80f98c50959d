package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// layout is a memory layout of an input.
type layout struct {
	name string
	// lay makes a leaf with the array's elements, and the input from it.
	lay func(a array) (leaf, input *Tensor)
	// input makes the input from a leaf that lay has made, or from a similar one.
	input func(leaf *Tensor, rank int) *Tensor
	// back converts the leaf's gradient to the input's.
	back func(g *Tensor, rank int) *Tensor
}

var layouts = []layout{
	{"row-major",
		func(a array) (*Tensor, *Tensor) {
			t := Parameter(New(a.floats(), a.shape...))
			return t, t
		},
		func(leaf *Tensor, _ int) *Tensor { return leaf },
		func(g *Tensor, _ int) *Tensor { return g }},
	{"transposed",
		func(a array) (*Tensor, *Tensor) {
			perm := reversed(len(a.shape))
			b := permuteRef(perm...)([]array{a})
			t := Parameter(New(b.floats(), b.shape...))
			return t, t.Permute(perm...)
		},
		func(leaf *Tensor, rank int) *Tensor { return leaf.Permute(reversed(rank)...) },
		func(g *Tensor, rank int) *Tensor { return g.Permute(reversed(rank)...) }},
	{"sliced and computed",
		func(a array) (*Tensor, *Tensor) {
			if len(a.shape) == 0 {
				t := Parameter(New(a.floats()))
				return t, t
			}
			last := len(a.shape) - 1
			larger := slices.Clone(a.shape)
			larger[last] += 3
			b := build(larger, func(i []int) float64 {
				if i[last] < 2 || i[last] >= a.shape[last]+2 {
					return math.NaN() // must not be read
				}
				j := slices.Clone(i)
				j[last] -= 2
				return a.get(j...)
			})
			t := Parameter(New(b.floats(), b.shape...))
			x := t.Slice(last, 2, a.shape[last]+2)
			Flush()
			return t, x
		},
		func(leaf *Tensor, rank int) *Tensor {
			if rank == 0 {
				return leaf
			}
			x := leaf.Slice(rank-1, 2, leaf.Size(rank-1)-1)
			Flush()
			return x
		},
		func(g *Tensor, rank int) *Tensor {
			if rank == 0 {
				return g
			}
			return g.Slice(rank-1, 2, g.Size(rank-1)-1)
		}},
}

func reversed(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = n - 1 - i
	}
	return p
}

// layoutsOf returns the memory layouts to test with inputs of the sizes m, n and k: one if they are empty.
func layoutsOf(s [3]int) []layout {
	if s[0]*s[1]*s[2] == 0 {
		return layouts[1:2]
	}
	return layouts
}

var trialSizes = [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {17, 13, 9}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {33, 40, 29}}

func TestOpsAgainstFloat64(t *testing.T) {
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range trialSizes {
				if row.nonEmpty && (s[0] == 0 || s[1] == 0 || s[2] == 0) {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 7))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				want := row.ref(in)
				for _, l := range layoutsOf(s) {
					ctx := fmt.Sprintf("%s, sizes %v", l.name, s)
					fused := evaluate(row, in, l.lay)
					compare(t, ctx, fused, want, 2e-5)
					sameBits(t, ctx+", replayed", evaluate(row, in, l.lay), fused)
					setUnfused(true)
					sameBits(t, ctx+", unfused", evaluate(row, in, l.lay), fused)
					setUnfused(false)
				}
			}
		})
	}
}

// TestOpsOfConstants gives all elements of the inputs one value: zeros, and equal elements, whose mean, deviation and
// largest element are special cases.
func TestOpsOfConstants(t *testing.T) {
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for _, value := range []float64{0, 0.3, 1, row.low, (row.low + 3*row.high) / 4} {
				value = float64(float32(value))
				if value < row.low || value >= row.high {
					continue
				}
				for _, s := range [][3]int{{2, 3, 4}, {33, 40, 29}} {
					var in []array
					for _, shape := range row.shapes(s[0], s[1], s[2]) {
						in = append(in, build(shape, func([]int) float64 { return value }))
					}
					compare(t, fmt.Sprintf("all elements %v, sizes %v", value, s), evaluate(row, in, layouts[0].lay), row.ref(in), 2e-5)
				}
			}
		})
	}
}

func setUnfused(on bool) { locked(func(r *ir.Recorder) { r.Unfused(on) }) }

func evaluate(row opRow, in []array, lay func(array) (*Tensor, *Tensor)) *Tensor {
	args := make([]*Tensor, len(in))
	for i, a := range in {
		_, args[i] = lay(a)
	}
	return row.f(args)
}

func compare(t *testing.T, ctx string, got *Tensor, want array, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.shape) {
		t.Fatalf("%s: shape %v, want %v", ctx, got.Shape(), want.shape)
	}
	for i, g := range got.Float64s() {
		w := want.data[i]
		if !(math.Abs(g-w) <= tolerance*(1+math.Abs(w))) && g != w && (g == g || w == w) {
			t.Fatalf("%s: element %d of %v is %v, want %v", ctx, i, want.shape, g, w)
		}
	}
}

// compareGradient is compare for a gradient that numericalGradients has computed.
func compareGradient(t *testing.T, ctx string, got *Tensor, want array, tolerance float64) {
	t.Helper()
	g := got.Float64s()
	for i, w := range want.data {
		if w != w && g[i] == g[i] {
			want.data[i] = g[i]
		}
	}
	compare(t, ctx, got, want, tolerance)
}

func sameBits(t *testing.T, ctx string, got, want *Tensor) {
	t.Helper()
	g, w := got.Data(), want.Data()
	if len(g) != len(w) {
		t.Fatalf("%s: %d elements, want %d", ctx, len(g), len(w))
	}
	for i := range g {
		if math.Float32bits(g[i]) != math.Float32bits(w[i]) {
			t.Fatalf("%s: element %d is %v, want %v, bit for bit", ctx, i, g[i], w[i])
		}
	}
}

var gradientSizes = [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 4, 3}, {3, 1, 6}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}

// TestGradients compares Backward with central differences of the reference.
func TestGradients(t *testing.T) {
	for _, row := range opRows {
		if row.noGrad {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			for i, s := range gradientSizes {
				if row.nonEmpty && s[0]*s[1]*s[2] == 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 11))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				weight, want := numericalGradients(row.ref, in, r)
				for _, l := range layoutsOf(s) {
					leaves, args := make([]*Tensor, len(in)), make([]*Tensor, len(in))
					for j, a := range in {
						leaves[j], args[j] = l.lay(a)
					}
					row.f(args).Mul(New(weight.floats(), weight.shape...)).Sum().Backward()
					for j, a := range in {
						ctx := fmt.Sprintf("%s, sizes %v, input %d", l.name, s, j)
						g := leaves[j].Grad()
						if g == nil {
							if largest(absolute(want[j].data)) > 0 {
								t.Fatalf("%s: no gradient", ctx)
							}
							continue
						}
						compareGradient(t, ctx, l.back(g, len(a.shape)), want[j], 2e-4)
					}
				}
			}
		})
	}
}

// maxGradientElements limits the elements of an input whose gradient is computed: each takes four evaluations
// of the reference.
const maxGradientElements = 40

// numericalGradients returns the gradients of Σ ref(in)·weight for a random weight by fourth-order central
// differences, whose error is about h⁴ plus 1e-16/h. For a large input it computes some random
// elements and sets the others to NaN.
func numericalGradients(ref func(in []array) array, in []array, r *rand.Rand) (weight array, want []array) {
	const h = 2e-5
	weight = randomArray(r, -1, 1, ref(in).shape...)
	loss := func() float64 {
		sum := 0.0
		for i, v := range ref(in).data {
			sum += v * weight.data[i]
		}
		return sum
	}
	for _, a := range in {
		slope := build(a.shape, func([]int) float64 { return math.NaN() })
		for i, k := range r.Perm(len(a.data)) {
			if i == maxGradientElements {
				break
			}
			x := a.data[k]
			at := func(step float64) float64 {
				a.data[k] = x + step
				return loss()
			}
			slope.data[k] = (8*(at(h)-at(-h)) - at(2*h) + at(-2*h)) / (12 * h)
			a.data[k] = x
		}
		want = append(want, slope)
	}
	return weight, want
}

func absolute(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if out[i] = math.Abs(x); x != x { // not computed
			out[i] = 0
		}
	}
	return out
}
