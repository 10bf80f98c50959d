package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// MatMul multiplies the matrices t [M, K] and o [K, N], or those of batches [B…, M, K] and [B…, K,
// N], whose leading dimensions broadcast.
func (t *Tensor) MatMul(o *Tensor) *Tensor {
	return compute(ir.MatMul{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		a, b := v[0].Shape(), v[1].Shape()
		if n := len(a); n > 2 && len(b) == 2 && a[n-1] == b[0] { // one large multiplication
			y := r.Record(ir.MatMul{}, r.Reshape(v[0], []int{ir.Len(a[:n-1]), a[n-1]}), v[1])
			return r.Reshape(y, append(slices.Clone(a[:n-1]), b[1]))
		}
		return r.Record(ir.MatMul{}, v[0], v[1])
	}, t, o)
}

// Linear returns x·wᵀ + b for x [N…, In], w [Out, In] and b [Out], which may be nil. A following
// ReLU is fused into it.
func Linear(x, w, b *Tensor) *Tensor {
	in := withOptional([]*Tensor{x, w}, b)
	if y := linearFP8(in); y != nil {
		return y
	}
	return compute(ir.Linear{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(v[1].Shape()) != 2 || len(shape) == 0 || shape[len(shape)-1] != v[1].Shape()[1] {
			panic(&ShapeError{Op: "Linear", Shapes: [][]int{slices.Clone(shape), slices.Clone(v[1].Shape())}, Hint: "x must be [N In] and w [Out In]"})
		}
		features := v[1].Shape()[1]
		rows := r.Reshape(v[0], []int{ir.Len(shape[:len(shape)-1]), features})
		var y *ir.Value
		if b != nil && v[0].DType() == Float64 {
			y = r.Add(r.Record(ir.MatMul{}, rows, r.Record(ir.Permute{Perm: []int{1, 0}}, v[1])), v[2])
		} else if b != nil {
			y = r.Record(ir.Linear{}, rows, v[1], v[2])
		} else {
			y = r.Record(ir.MatMul{}, rows, r.Record(ir.Permute{Perm: []int{1, 0}}, v[1]))
		}
		return r.Reshape(y, append(slices.Clone(shape[:len(shape)-1]), v[1].Shape()[0]))
	}, in...)
}

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

// Normalize divides t by its p-norm along an axis, (Σ|t|ᵖ)^(1/p), or by 1e-12 if that is larger: torch's normalize.
// p is at least 1: 2 is the Euclidean norm, and math.Inf(1) the largest absolute value. For t [3 4],
// Normalize(2, 0) returns [0.6 0.8].
func (t *Tensor) Normalize(p float64, along int) *Tensor {
	if !(p >= 1) {
		panic(&ShapeError{Op: "Normalize", Shapes: [][]int{t.Shape()}, Hint: fmt.Sprintf("the norm's p is %v, it must be at least 1", p)})
	}
	return compute(composite{name: "Normalize", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return unit(r, v[0], p, axis("Normalize", v[0].Shape(), along), 1e-12)
	}, t)
}

// unit divides x by its norm along an axis, or by a larger minimum.
func unit(r *ir.Recorder, x *ir.Value, p float64, a int, minimum float64) *ir.Value {
	kept := slices.Clone(x.Shape())
	kept[a] = 1
	length := r.Record(ir.AtLeast{Scalar: minimum}, pNorm(r, x, p, a))
	return r.Record(ir.Div{}, x, r.Reshape(length, kept))
}

// pNorm returns the p-norm along an axis. Its gradient is 0 where it is 0.
func pNorm(r *ir.Recorder, x *ir.Value, p float64, a int) *ir.Value {
	sum := func(v *ir.Value) *ir.Value { return r.Record(ir.Sum{From: a, To: a + 1}, v) }
	switch {
	case p == 1:
		return sum(r.Record(ir.Abs{}, x))
	case p == 2:
		return sqrtZeroGrad(r, sum(r.Record(ir.Square{}, x)))
	case math.IsInf(p, 1):
		return r.Record(ir.Max{Axis: a}, r.Record(ir.Abs{}, x))
	}
	powers := sum(r.Record(ir.PowScalar{Scalar: p}, r.Record(ir.Abs{}, x)))
	return zeroGradAtZero(r, powers, ir.PowScalar{Scalar: 1 / p})
}

// CosineSimilarity returns the cosine of the angle between a and b along an axis, which is removed:
// Σab/(max(‖a‖, 1e-8)·max(‖b‖, 1e-8)), torch's cosine_similarity. The shapes broadcast, and the axis is one of
// the result of that.
func CosineSimilarity(a, b *Tensor, along int) *Tensor {
	return compute(composite{name: "CosineSimilarity", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape, ok := ir.Broadcast(v[0].Shape(), v[1].Shape())
		if !ok {
			panic(&ShapeError{Op: "CosineSimilarity", Shapes: [][]int{slices.Clone(v[0].Shape()), slices.Clone(v[1].Shape())}, Hint: "the shapes do not broadcast"})
		}
		at := axis("CosineSimilarity", shape, along)
		direction := func(x *ir.Value) *ir.Value {
			if !slices.Equal(x.Shape(), shape) {
				x = r.Record(ir.Expand{Shape: slices.Clone(shape)}, x)
			}
			return unit(r, x, 2, at, 1e-8)
		}
		return r.Record(ir.Sum{From: at, To: at + 1}, r.Mul(direction(v[0]), direction(v[1])))
	}, a, b)
}

// CDist returns the Euclidean distances between the rows of a [B…, P, M] and those of b [B…, R, M]: [B…, P, R], torch's
// cdist with p 2. Batches broadcast. The gradient is 0 where the distance is 0. It computes the differences of
// all pairs, which have P·R·M elements, and not a product of matrices, which would lose the digits of small
// distances.
func CDist(a, b *Tensor) *Tensor {
	return compute(composite{name: "CDist", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, o := v[0].Shape(), v[1].Shape()
		n, m := len(s), len(o)
		if n < 2 || m < 2 || s[n-1] != o[m-1] {
			panic(&ShapeError{Op: "CDist", Shapes: [][]int{slices.Clone(s), slices.Clone(o)}, Hint: "both must have at least two dimensions, and the last ones must be equal"})
		}
		d := r.Record(ir.Sub{}, r.Reshape(v[0], slices.Insert(slices.Clone(s), n-1, 1)), r.Reshape(v[1], slices.Insert(slices.Clone(o), m-2, 1)))
		return pNorm(r, d, 2, len(d.Shape())-1)
	}, a, b)
}
