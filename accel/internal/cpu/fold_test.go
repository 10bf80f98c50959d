package cpu

import (
	"fmt"
	"math"
	"testing"
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

// evaluate is a term by the vector functions of its ops.
func evaluate(v *vectors, x term, in [][]float32, scalars *[]float32) []float32 {
	if x.op == "" {
		return in[x.input]
	}
	var args [3][]float32
	for i, a := range x.args {
		args[i] = evaluate(v, a, in, scalars)
	}
	s := float32(0)
	if x.op == "MulScalar" || x.op == "AddScalar" {
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
			{name: "MulScalar", args: [3]int{0}, arity: 1, word: 0, out: -1},
			{name: "MulScalar", args: [3]int{1}, arity: 1, word: 1, out: -1},
			{name: "Add", args: [3]int{2, 3}, arity: 2, word: -1, out: -1},
			{name: "AddScalar", args: [3]int{4}, arity: 1, word: 2, out: -1},
			{name: "AddScalar", args: [3]int{5}, arity: 1, word: 3, out: 0},
		}
	}
	for _, row := range []struct {
		name   string
		change func(b []instr) []instr
		want   int // instructions
	}{
		{"whole", func(b []instr) []instr { return b }, 1},
		{"an inner value is an output", func(b []instr) []instr { b[2].out = 1; return b }, 5},
		{"an inner value is used again", func(b []instr) []instr {
			return append(b, instr{name: "Mul", args: [3]int{3, 6}, arity: 2, word: -1, out: 1})
		}, 6},
		{"the result is used again", func(b []instr) []instr {
			return append(b, instr{name: "Mul", args: [3]int{6, 6}, arity: 2, word: -1, out: 1})
		}, 2},
		{"another op", func(b []instr) []instr { b[2].name = "Sub"; return b }, 5},
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
