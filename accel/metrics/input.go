package metrics

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// kind is what predictions stand for.
type kind int

const (
	classes kind = iota + 1 // each example has one of several classes, with a logit for each
	binary                  // each example has one of two classes, with one logit for the second
	labels                  // each example has any number of labels, with a logit for each
)

// batch is a batch for classification, with the axes of examples in one.
type batch struct {
	kind       kind
	n, width   int            // examples, and logits of an example
	prediction *tensor.Tensor // [n, width]
	target     *tensor.Tensor // [n] for classes and binary, [n, width] for labels
}

// classified interprets a prediction and a target.
func classified(op string, prediction, target *tensor.Tensor) (b batch, err error) {
	p, t := prediction.Shape(), target.Shape()
	column := func(s []int) bool { return len(s) == 1 || len(s) == 2 && s[1] == 1 }
	switch {
	case len(p) > 0 && len(t) > 0 && column(p) && column(t) && p[0] == t[0]:
		b = batch{kind: binary, n: p[0], width: 1}
	case len(p) == 2 && len(t) == 1 && p[0] == t[0]:
		b = batch{kind: classes, n: p[0], width: p[1]}
	case len(p) == 3 && len(t) == 2 && p[0] == t[0] && p[1] == t[1]:
		b = batch{kind: classes, n: p[0] * p[1], width: p[2]}
	case len(p) >= 4 && slices.Equal(slices.Delete(slices.Clone(p), 1, 2), t): // a class for each pixel
		return pixels(op, prediction, target)
	case len(p) == 2 && slices.Equal(p, t):
		b = batch{kind: labels, n: p[0], width: p[1]}
	default:
		return b, &tensor.ShapeError{Op: op, Shapes: [][]int{p, t}, Hint: "it takes logits [N, C] and classes [N], logits [N, T, C] and classes [N, T], logits [N, C, H, W] and classes [N, H, W], or logits [N, L] and labels [N, L]"}
	}
	if b.n == 0 || b.width == 0 {
		return b, &tensor.ShapeError{Op: op, Shapes: [][]int{p, t}, Hint: "the batch is empty"}
	}
	b.prediction = prediction.Reshape(b.n, b.width)
	if b.target = target; b.kind != labels {
		b.target = target.Reshape(b.n)
	}
	return b, nil
}

// pixels interprets logits [N, C, H, W] and classes [N, H, W], also of volumes, as examples.
func pixels(op string, prediction, target *tensor.Tensor) (batch, error) {
	order := []int{0}
	for axis := 2; axis < prediction.NDim(); axis++ {
		order = append(order, axis)
	}
	n, width := target.Numel(), prediction.Size(1)
	return classified(op, prediction.Permute(append(order, 1)...).Reshape(n, width), target.Reshape(n))
}

// fits fails if a batch is of another kind than those before it.
func (b batch) fits(op string, k kind, width int) error {
	if k == 0 || b.kind == k && b.width == width {
		return nil
	}
	return &tensor.ShapeError{Op: op, Shapes: [][]int{{b.n, b.width}}, Hint: fmt.Sprintf("the batches before had %d logits for each example; use another Collection for another model", width)}
}

// targets reads the targets: class indices, or 0 and 1, one for each example or label, and -1 for a
// label that is left out. first is the number of examples before the batch.
func (b batch) targets(first int, s settings) ([]int, error) {
	most := b.width - 1
	if b.kind != classes {
		most = 1
	}
	values := b.target.Float64s()
	t := make([]int, len(values))
	for i, v := range values {
		if t[i] = int(v); s.leavesOut(t[i]) && float64(t[i]) == v {
			if b.kind == labels {
				t[i] = -1
			}
			continue
		}
		example := first + i*b.n/len(values)
		switch {
		case math.IsNaN(v):
			return nil, &NonFiniteError{"target", example, v}
		case !(v >= 0 && v <= float64(most)) || float64(t[i]) != v:
			want := "0 or 1"
			if b.kind == classes {
				want = fmt.Sprintf("a class from 0 to %d", most)
			}
			return nil, &TargetError{example, v, want}
		}
	}
	return t, nil
}

// decisions starts to compute what is predicted. The function that it returns reads the
// predicted classes and the targets, without those left out; for labels there are width entries
// of 0 or 1 for each example, with target -1 for those left out.
func (b batch) decisions(first int, s settings) (read func() (predicted, target []int, err error), err error) {
	if b.kind == classes && s.thresholds && b.width > 2 && s.average != ofClass {
		return nil, &tensor.ShapeError{Op: "metrics.Threshold", Shapes: [][]int{b.prediction.Shape()},
			Hint: fmt.Sprintf("of %d classes a threshold can select one: add OfClass", b.width)}
	}
	var answer, top *tensor.Tensor
	if b.kind == classes && !s.thresholds {
		answer, top = b.prediction.ArgMax(1), b.prediction.Max(1) // Max is NaN if there is a NaN
	}
	return func() (predicted, target []int, err error) {
		switch {
		case answer != nil:
			predicted, err = answer.Ints(), finite(top, first, 1)
			answer.Release()
			top.Release()
		case b.kind == classes:
			predicted, err = b.selected(first, s)
		default:
			predicted, err = b.positive(first, s)
		}
		if err != nil {
			return nil, nil, err
		}
		if target, err = b.targets(first, s); err != nil || s.ignored == nil || b.kind == labels {
			return predicted, target, err
		}
		n := 0
		for i, t := range target {
			if !s.leavesOut(t) {
				predicted[n], target[n] = predicted[i], t
				n++
			}
		}
		return predicted[:n], target[:n], nil
	}, nil
}

// positive returns 1 for each logit that reaches the threshold, else 0.
func (b batch) positive(first int, s settings) ([]int, error) {
	if err := finite(b.prediction, first, b.width); err != nil {
		return nil, err
	}
	values := b.prediction.Float64s()
	p := make([]int, len(values))
	for i, v := range values {
		if s.positive(v) {
			p[i] = 1
		}
	}
	return p, nil
}

// selected returns the positive class for each example in which its probability reaches the threshold, and
// else the largest other class.
func (b batch) selected(first int, s settings) ([]int, error) {
	if err := finite(b.prediction, first, b.width); err != nil {
		return nil, err
	}
	class := 1
	if s.average == ofClass {
		class = s.class
	}
	if class >= b.width {
		return nil, &UndefinedError{Class: class, Reason: fmt.Sprintf("there are only %d classes", b.width)}
	}
	values := b.prediction.Float64s()
	p := make([]int, b.n)
	for i := range p {
		row := values[i*b.width : (i+1)*b.width]
		share := row[class]
		if !s.probabilities { // not exp(share - logSumExp(row)), which is not ½ for two equal logits
			odds := 1.0
			for k, v := range row {
				if k != class {
					odds += math.Exp(v - row[class])
				}
			}
			if share = 1 / odds; math.IsNaN(share) {
				return nil, &NonFiniteError{"prediction", first + i, share}
			}
		}
		if share >= s.threshold {
			p[i] = class
			continue
		}
		row[class] = math.Inf(-1)
		p[i] = -1
		for k, v := range row {
			if k != class && (p[i] < 0 || v > row[p[i]]) {
				p[i] = k
			}
		}
	}
	return p, nil
}

// finite returns an error that names the first example with a NaN. Infinite logits are allowed:
// they are those of impossible classes.
func finite(t *tensor.Tensor, first, width int) error {
	for i, v := range t.Float64s() {
		if math.IsNaN(v) {
			return &NonFiniteError{"prediction", first + i/width, v}
		}
	}
	return nil
}
