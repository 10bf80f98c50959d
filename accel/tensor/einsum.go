package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Einsum multiplies tensors and sums over indices, as torch.einsum does. The equation names each
// dimension by a letter: "ij,jk->ik" is a matrix multiplication, "bhtd,bhsd->bhts" the scores of
// attention, "ii->i" a diagonal, and "ij->" a sum. Letters that are not behind the arrow are summed
// over. Without an arrow, the result has the letters that occur once, in alphabetical order. "..."
// stands for further dimensions, which broadcast; so do dimensions of size 1. The operands are
// multiplied from left to right.
func Einsum(equation string, operands ...*Tensor) *Tensor {
	e := einsum{equation: equation, sizes: map[int]int{}}
	op := composite{name: "Einsum"}
	if len(operands) > 1 {
		op.cast = ir.Cast16Bit
	}
	return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		e.r = r
		e.parse(v)
		acc := e.take(0, v[0])
		for i := 1; i < len(v); i++ {
			acc = e.multiply(acc, e.take(i, v[i]), func(label int) bool { return e.needed(label, i) })
		}
		return e.arranged(acc, e.out).v
	}, operands...)
}

// einsum is the computation of an equation. A label is a letter, or -1 for the last dimension of
// "...", -2 for the one before, and so on.
type einsum struct {
	r        *ir.Recorder
	equation string
	terms    [][]int // labels of each operand
	out      []int
	sizes    map[int]int
}

// labelled is a value whose dimensions have different labels.
type labelled struct {
	v      *ir.Value
	labels []int
}

func (e *einsum) fail(format string, values ...any) {
	panic(&ShapeError{Op: "Einsum", Hint: fmt.Sprintf("%q: ", e.equation) + fmt.Sprintf(format, values...)})
}

// parse finds the labels of the operands and of the result, and their sizes.
func (e *einsum) parse(v []*ir.Value) {
	left, right, arrow := strings.Cut(strings.ReplaceAll(e.equation, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(v) {
		e.fail("it has %d operands, %d are given", len(terms), len(v))
	}
	dots := 0 // dimensions of "..."
	count := map[int]int{}
	for i, term := range terms {
		shape := v[i].Shape()
		own := len(shape) - len(strings.Replace(term, "...", "", 1))
		if own < 0 || own > 0 && !strings.Contains(term, "...") {
			e.fail("operand %d has the shape %s, which does not fit %q", i, ir.FormatShape(shape), term)
		}
		dots = max(dots, own)
		labels := e.labels(term, own)
		for d, label := range labels {
			n, known := e.sizes[label]
			if k := slices.Index(labels, label); k < d && shape[k] != shape[d] {
				e.fail("operand %d has the shape %s, and %s names two dimensions of different size", i, ir.FormatShape(shape), name(label))
			}
			if known && n != 1 && shape[d] != 1 && n != shape[d] {
				e.fail("the sizes %d and %d of %s do not broadcast", n, shape[d], name(label))
			}
			if !known || n == 1 {
				e.sizes[label] = shape[d]
			}
			count[label]++
		}
		e.terms = append(e.terms, labels)
	}
	if arrow {
		own := 0
		if strings.Contains(right, "...") {
			own = dots
		}
		e.out = e.labels(right, own)
	} else {
		for label, n := range count {
			if label < 0 || n == 1 {
				e.out = append(e.out, label)
			}
		}
		slices.Sort(e.out)
	}
	for i, label := range e.out {
		if count[label] == 0 || slices.Contains(e.out[:i], label) {
			e.fail("%s of the result must occur in an operand, and only once in the result", name(label))
		}
	}
}

// labels returns the labels of a term, whose "..." stands for some dimensions.
func (e *einsum) labels(term string, dots int) (labels []int) {
	before, after, found := strings.Cut(term, "...")
	for i, part := range []string{before, after} {
		if i == 1 && found {
			for d := range dots {
				labels = append(labels, d-dots)
			}
		}
		for _, c := range part {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
				e.fail("%q is not a letter", c)
			}
			labels = append(labels, int(c))
		}
	}
	return labels
}

func name(label int) string {
	if label < 0 {
		return `"..."`
	}
	return fmt.Sprintf("%q", rune(label))
}

// needed reports whether the result or an operand after the given one has a label.
func (e *einsum) needed(label, after int) bool {
	return slices.Contains(e.out, label) || slices.ContainsFunc(e.terms[after+1:], func(t []int) bool { return slices.Contains(t, label) })
}

// take returns an operand with the diagonal of dimensions with one label, and without those that
// only it has.
func (e *einsum) take(i int, v *ir.Value) labelled {
	x := labelled{v, slices.Clone(e.terms[i])}
	for d := 0; d < len(x.labels); d++ {
		if k := slices.Index(x.labels, x.labels[d]); k < d {
			x = e.diagonal(x, k, d)
			d = -1
		}
	}
	for d := len(x.labels) - 1; d >= 0; d-- {
		if label := x.labels[d]; !e.needed(label, i) && !slices.ContainsFunc(e.terms[:i], func(t []int) bool { return slices.Contains(t, label) }) {
			x.v = e.r.Record(ir.Sum{From: d, To: d + 1}, x.v)
			x.labels = slices.Delete(x.labels, d, d+1)
		}
	}
	return x
}

// diagonal merges the dimensions i < j, which have one label.
func (e *einsum) diagonal(x labelled, i, j int) labelled {
	order := []int{i, j}
	var rest []int
	for d, label := range x.labels {
		if d != i && d != j {
			order, rest = append(order, d), append(rest, label)
		}
	}
	v := e.r.Record(ir.Permute{Perm: order}, x.v)
	n, shape := v.Shape()[0], slices.Clone(v.Shape()[2:])
	at := make([]int32, n)
	for k := range at {
		at[k] = int32(k * (n + 1))
	}
	v = e.r.Reshape(v, append([]int{n * n}, shape...))
	v = e.r.Record(ir.IndexSelect{}, v, e.r.Upload(ir.Type{Shape: []int{n}, DType: Int32}, bytesOf(at)))
	return labelled{v, append([]int{x.labels[i]}, rest...)}
}

// arranged returns x with the given labels, in this order; those that x lacks have size 1.
func (e *einsum) arranged(x labelled, labels []int) labelled {
	var order, shape []int
	for _, label := range labels {
		if d := slices.Index(x.labels, label); d >= 0 {
			order, shape = append(order, d), append(shape, x.v.Shape()[d])
		} else {
			shape = append(shape, 1)
		}
	}
	v := x.v
	if !slices.IsSorted(order) {
		v = e.r.Record(ir.Permute{Perm: order}, v)
	}
	return labelled{e.r.Reshape(v, shape), labels}
}

// multiply multiplies two values and sums over the labels of both that are not kept.
func (e *einsum) multiply(a, b labelled, keep func(label int) bool) labelled {
	var batch, onlyA, onlyB, summed []int
	for _, label := range a.labels {
		switch {
		case !slices.Contains(b.labels, label):
			onlyA = append(onlyA, label)
		case keep(label):
			batch = append(batch, label)
		default:
			summed = append(summed, label)
		}
	}
	for _, label := range b.labels {
		if !slices.Contains(a.labels, label) {
			onlyB = append(onlyB, label)
		}
	}
	labels := slices.Concat(batch, onlyA, onlyB)
	if len(summed) == 0 {
		return labelled{e.r.Mul(e.arranged(a, labels).v, e.arranged(b, labels).v), labels}
	}
	factor := func(x labelled, rows, columns []int) *ir.Value {
		all := slices.Concat(batch, rows, columns)
		x = e.arranged(x, all)
		shape := make([]int, len(all))
		for i, label := range all {
			if shape[i] = x.v.Shape()[i]; slices.Contains(summed, label) {
				shape[i] = e.sizes[label] // a size of 1 broadcasts
			}
		}
		v := x.v
		if !slices.Equal(shape, v.Shape()) {
			v = e.r.Record(ir.Expand{Shape: slices.Clone(shape)}, v)
		}
		k, m := len(batch), len(batch)+len(rows)
		return e.r.Reshape(v, append(slices.Clone(shape[:k]), ir.Len(shape[k:m]), ir.Len(shape[m:])))
	}
	y := e.r.Record(ir.MatMul{}, factor(a, onlyA, summed), factor(b, summed, onlyB))
	shape := slices.Clone(y.Shape()[:len(batch)])
	for _, x := range []struct {
		labelled
		only []int
	}{{a, onlyA}, {b, onlyB}} {
		for _, label := range x.only {
			shape = append(shape, x.v.Shape()[slices.Index(x.labels, label)])
		}
	}
	return labelled{e.r.Reshape(y, shape), labels}
}
