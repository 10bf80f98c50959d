package cpu

import (
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// A folding is a few elementwise ops that one vector function computes in one pass, with
// the same bits. These are the ones in the updates of optimizers.
type folding struct {
	tree term
	run  func(v *vectors) func(d, a, b, c []float32, s *foldScalars)
}

// foldScalars are the scalars of the ops, in the order of the formula.
type foldScalars [4]float32

// term is an op with its inputs, or an input of the folding.
type term struct {
	op    reflect.Type // nil for an input
	input int
	args  []term
}

func apply(op ir.Op, args ...term) term { return term{op: reflect.TypeOf(op), args: args} }
func input(i int) term                  { return term{input: i} }

// plusTwo returns x + s + s', which flushes tiny values to zero.
func plusTwo(x term) term { return apply(ir.AddScalar{}, apply(ir.AddScalar{}, x)) }

var (
	blending = folding{
		plusTwo(apply(ir.Add{}, apply(ir.MulScalar{}, input(0)), apply(ir.MulScalar{}, input(1)))),
		func(v *vectors) func(d, a, b, c []float32, s *foldScalars) { return v.blend },
	}
	blendingSquare = folding{
		plusTwo(apply(ir.Add{}, apply(ir.MulScalar{}, input(0)), apply(ir.MulScalar{}, apply(ir.Square{}, input(1))))),
		func(v *vectors) func(d, a, b, c []float32, s *foldScalars) { return v.blendSquare },
	}
	rootStepping = folding{
		apply(ir.Sub{}, input(0), apply(ir.Div{}, apply(ir.MulScalar{}, apply(ir.MulScalar{}, input(1))), apply(ir.AddScalar{}, apply(ir.Sqrt{}, apply(ir.MulScalar{}, input(2)))))),
		func(v *vectors) func(d, a, b, c []float32, s *foldScalars) { return v.rootStep },
	}
	foldings = []*folding{&blendingSquare, &blending, &rootStepping} // larger ones come first
)

// fold replaces groups of instructions by foldings, if other instructions only use the
// result of the last one. inputs is the number of the loop's inputs.
func fold(body []instr, inputs int) []instr {
	uses := make([]int, len(body))
	for _, k := range body {
		for _, a := range k.args[:k.arity] {
			if a >= inputs {
				uses[a-inputs]++
			}
		}
	}
	f := folder{body: body, inputs: inputs, uses: uses, gone: make([]bool, len(body))}
	for root := len(body) - 1; root >= 0; root-- {
		for _, x := range foldings {
			if !f.gone[root] && f.try(x, root) {
				break
			}
		}
	}
	return f.rest()
}

type folder struct {
	body   []instr
	inputs int
	uses   []int
	gone   []bool

	// State of the current match.
	found  [3]int
	inside []int
	words  []int
}

func (f *folder) try(x *folding, root int) bool {
	f.found, f.inside, f.words = [3]int{-1, -1, -1}, f.inside[:0], nil
	if !f.match(x.tree, root+f.inputs, true) {
		return false
	}
	k := instr{fold: x, word: -1, out: f.body[root].out, words: f.words}
	for _, a := range f.found {
		if a >= 0 {
			k.args[k.arity] = a
			k.arity++
		}
	}
	for _, i := range f.inside {
		f.gone[i] = true
	}
	f.body[root] = k
	return true
}

// match reports whether a value matches a term, and records the inputs and scalars.
func (f *folder) match(t term, value int, root bool) bool {
	if t.op == nil {
		if f.found[t.input] >= 0 && f.found[t.input] != value {
			return false
		}
		f.found[t.input] = value
		return true
	}
	i := value - f.inputs
	if i < 0 || f.body[i].of != t.op || f.gone[i] || !root && (f.uses[i] > 1 || f.body[i].out >= 0) {
		return false
	}
	if !root {
		f.inside = append(f.inside, i)
	}
	for j, a := range t.args {
		if !f.match(a, f.body[i].args[j], false) {
			return false
		}
	}
	if w := f.body[i].word; w >= 0 {
		f.words = append(f.words, w)
	}
	return true
}

// rest returns the remaining instructions, renumbered.
func (f *folder) rest() []instr {
	number := make([]int, len(f.body))
	var kept []instr
	for i, k := range f.body {
		if f.gone[i] {
			continue
		}
		for j, a := range k.args[:k.arity] {
			if a >= f.inputs {
				k.args[j] = f.inputs + number[a-f.inputs]
			}
		}
		number[i] = len(kept)
		kept = append(kept, k)
	}
	return kept
}

// joinMoments finds the updates of the means of a gradient and of its square, and the
// update of a parameter that uses them. One function computes all three, in place of the
// last one.
func joinMoments(body []instr, inputs int) {
	for last := range body {
		k := &body[last]
		if k.fold != &rootStepping {
			continue
		}
		first, second := k.args[1]-inputs, k.args[2]-inputs
		if first < 0 || second < 0 || body[first].fold != &blending || body[second].fold != &blendingSquare || body[first].args[1] != body[second].args[1] {
			continue
		}
		alone := true // no earlier instruction reads the means
		for i := range body[:last] {
			for _, a := range body[i].args[:body[i].arity] {
				alone = alone && a != first+inputs && a != second+inputs
			}
		}
		if alone {
			k.moments = &moments{first: first, second: second}
			body[first].at, body[second].at = last, last
		}
	}
}

// moments are the instructions that are fused with another one.
type moments struct {
	first, second int
	scalars       [3]foldScalars
}
