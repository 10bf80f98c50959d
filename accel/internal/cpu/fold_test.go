package cpu

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestFoldingsHaveTheBitsOfTheirOps runs each folding and its ops one by one.
func TestFoldingsHaveTheBitsOfTheirOps(t *testing.T) {
	for _, v := range allVectors() {
		for i, f := range foldings {
			t.Run(fmt.Sprint(v.name, " ", i), func(t *testing.T) {
				for n := range 3 * len(special) {
					in := make([][]float32, 3)
					for k := range in {
						for j := range n {
							in[k] = append(in[k], special[(j*(3*k+1)+n+7*k)%len(special)])
						}
					}
					s := foldScalars{0.9, 0.1, 1e-30, -1e-30}
					got, rest := make([]float32, n), s[:]
					f.run(v)(got, in[0], in[1], in[2], &s)
					for j, want := range evaluate(v, f.tree, in, &rest) {
						if math.Float32bits(got[j]) != math.Float32bits(want) && (want == want || got[j] == got[j]) {
							t.Fatalf("%d numbers: element %d is %v, its ops give %v", n, j, got[j], want)
						}
					}
				}
			})
		}
	}
}

// evaluate computes a term with the vector functions of its ops.
func evaluate(v *vectors, x term, in [][]float32, scalars *[]float32) []float32 {
	if x.op == nil {
		return in[x.input]
	}
	var args [3][]float32
	for i, a := range x.args {
		args[i] = evaluate(v, a, in, scalars)
	}
	s := float32(0)
	if x.op == reflect.TypeFor[ir.MulScalar]() || x.op == reflect.TypeFor[ir.AddScalar]() {
		s, *scalars = (*scalars)[0], (*scalars)[1:]
	}
	d := make([]float32, len(args[0]))
	elementwiseOps[x.op](v, d, args[0], args[1], args[2], s)
	return d
}

func TestFold(t *testing.T) {
	// a·s + b·t + u + w of the inputs 0 and 1; values count from 2 on.
	blend := func() []instr {
		return []instr{
			{of: reflect.TypeFor[ir.MulScalar](), args: [3]int{0}, arity: 1, word: 0, out: -1},
			{of: reflect.TypeFor[ir.MulScalar](), args: [3]int{1}, arity: 1, word: 1, out: -1},
			{of: reflect.TypeFor[ir.Add](), args: [3]int{2, 3}, arity: 2, word: -1, out: -1},
			{of: reflect.TypeFor[ir.AddScalar](), args: [3]int{4}, arity: 1, word: 2, out: -1},
			{of: reflect.TypeFor[ir.AddScalar](), args: [3]int{5}, arity: 1, word: 3, out: 0},
		}
	}
	for _, row := range []struct {
		name   string
		change func(b []instr) []instr
		want   int // expected number of instructions
	}{
		{"whole", func(b []instr) []instr { return b }, 1},
		{"an inner value is an output", func(b []instr) []instr { b[2].out = 1; return b }, 5},
		{"an inner value is used again", func(b []instr) []instr {
			return append(b, instr{of: reflect.TypeFor[ir.Mul](), args: [3]int{3, 6}, arity: 2, word: -1, out: 1})
		}, 6},
		{"the result is used again", func(b []instr) []instr {
			return append(b, instr{of: reflect.TypeFor[ir.Mul](), args: [3]int{6, 6}, arity: 2, word: -1, out: 1})
		}, 2},
		{"another op", func(b []instr) []instr { b[2].of = reflect.TypeFor[ir.Sub](); return b }, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := fold(row.change(blend()), 2)
			if len(got) != row.want {
				t.Fatalf("%d instructions, want %d: %+v", len(got), row.want, got)
			}
			for i, k := range got {
				for _, a := range k.args[:k.arity] {
					if a >= 2+i {
						t.Errorf("instruction %d reads value %d, which comes later", i, a)
					}
				}
			}
			if got[0].fold != nil && fmt.Sprint(got[0].words) != "[0 1 2 3]" {
				t.Errorf("the scalars are words %v", got[0].words)
			}
		})
	}
}

// TestMomentStepHasTheBitsOfItsParts compares it with the three foldings, one after the
// other, also in place.
func TestMomentStepHasTheBitsOfItsParts(t *testing.T) {
	for _, v := range allVectors() {
		if v.momentStep == nil {
			continue
		}
		s := [3]foldScalars{{0.9, 0.1, 1e-30, -1e-30}, {0.999, 0.001, 1e-30, -1e-30}, {1.25, 1e-3, 1.001, 1e-8}}
		for n := range 3 * len(special) {
			var in [4][]float32 // mean, gradient, mean of squares, parameter
			for k := range in {
				for j := range n {
					in[k] = append(in[k], special[(j*(3*k+1)+n+7*k)%len(special)])
				}
			}
			m, u, p := make([]float32, n), make([]float32, n), make([]float32, n)
			v.blend(m, in[0], in[1], nil, &s[0])
			v.blendSquare(u, in[2], in[1], nil, &s[1])
			v.rootStep(p, in[3], m, u, &s[2])
			v.momentStep(in[0], in[2], in[3], in[0], in[1], in[2], in[3], &s)
			for k, want := range [][]float32{m, u, p} {
				got := [][]float32{in[0], in[2], in[3]}[k]
				for j := range want {
					if math.Float32bits(got[j]) != math.Float32bits(want[j]) && (want[j] == want[j] || got[j] == got[j]) {
						t.Fatalf("%s, %d numbers: result %d has %v at %d, its parts give %v", v.name, n, k, got[j], j, want[j])
					}
				}
			}
		}
	}
}

// TestFoldAdam folds the ops that Adam records for a parameter: three remain, and one
// function computes them. Inputs are the mean, the gradient, the mean of squares and the
// parameter.
func TestFoldAdam(t *testing.T) {
	var body []instr
	op := func(o ir.Op, args ...int) int {
		k := instr{of: reflect.TypeOf(o), arity: len(args), word: -1, out: -1}
		copy(k.args[:], args)
		if _, ok := o.(ir.Dynamic); ok {
			k.word = len(body)
		}
		body = append(body, k)
		return 3 + len(body)
	}
	fade := func(x int) int { return op(ir.AddScalar{}, op(ir.AddScalar{}, x)) }
	first := fade(op(ir.Add{}, op(ir.MulScalar{}, 0), op(ir.MulScalar{}, 1)))
	second := fade(op(ir.Add{}, op(ir.MulScalar{}, 2), op(ir.MulScalar{}, op(ir.Square{}, 1))))
	mean := op(ir.MulScalar{}, op(ir.MulScalar{}, first))
	root := op(ir.AddScalar{}, op(ir.Sqrt{}, op(ir.MulScalar{}, second)))
	last := op(ir.Sub{}, 3, op(ir.Div{}, mean, root))
	for i, v := range []int{first, second, last} {
		body[v-4].out = i
	}
	body = fold(body, 4)
	if len(body) != 3 || body[0].fold != &blending || body[1].fold != &blendingSquare || body[2].fold != &rootStepping {
		t.Fatalf("%d instructions are left: %+v", len(body), body)
	}
	for i := range body {
		body[i].at = i
	}
	joinMoments(body, 4)
	if m := body[2].moments; m == nil || m.first != 0 || m.second != 1 {
		t.Errorf("they are not joined: %+v", body)
	}
}

// TestJoinMoments tests what one function can compute, and what prevents that. Values count
// from 4: means, gradient and parameter come before.
func TestJoinMoments(t *testing.T) {
	update := func() []instr {
		return []instr{
			{fold: &blending, args: [3]int{0, 1}, arity: 2, out: 0},
			{fold: &blendingSquare, args: [3]int{2, 1}, arity: 2, out: 1},
			{of: reflect.TypeFor[ir.MulScalar](), args: [3]int{3}, arity: 1, out: -1},
			{fold: &rootStepping, args: [3]int{6, 4, 5}, arity: 3, out: 2},
		}
	}
	for _, row := range []struct {
		name   string
		change func(b []instr) []instr
		want   bool
	}{
		{"whole", func(b []instr) []instr { return b }, true},
		{"a mean is used again, afterwards", func(b []instr) []instr {
			return append(b, instr{of: reflect.TypeFor[ir.Neg](), args: [3]int{4}, arity: 1, out: 3})
		}, true},
		{"a mean is used before", func(b []instr) []instr { b[2].args[0] = 5; return b }, false},
		{"another gradient", func(b []instr) []instr { b[1].args[1] = 3; return b }, false},
		{"a mean from elsewhere", func(b []instr) []instr { b[3].args[1] = 0; return b }, false},
		{"means the other way round", func(b []instr) []instr { b[3].args = [3]int{6, 5, 4}; return b }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := row.change(update())
			for i := range b {
				b[i].at = i
			}
			joinMoments(b, 4)
			if got := b[3].moments != nil; got != row.want || got != (b[0].at == 3) || got != (b[1].at == 3) {
				t.Errorf("joined: %v, want %v: %+v", got, row.want, b)
			}
		})
	}
}
