package onnx

import (
	"maps"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// severalOutputs runs the ops that may have several outputs. A result has at least as many values as the
// op may have outputs.
var severalOutputs = map[string]func(c *call) []operand{
	"GRU":   func(c *call) []operand { return c.recurrent(tensor.GRUCell, []int{1, 0, 2}) },
	"LSTM":  func(c *call) []operand { return c.recurrent(tensor.LSTMCell, []int{0, 2, 3, 1}) },
	"Split": runSplit,
	"TopK":  runTopK,
}

// recurrent are the attributes of recurrent layers.
func recurrent(more attributes) attributes {
	all := attributes{"direction": "forward", "hidden_size": 0, "layout": only{0}}
	maps.Copy(all, more)
	return all
}

// recurrent runs a recurrent layer. gates are the gates of ONNX in the order of package tensor, which is
// PyTorch's.
func (c *call) recurrent(cell tensor.Cell, gates []int) []operand {
	x, w, r := c.tensor(0), c.tensor(1), c.tensor(2)
	if x.NDim() != 3 || w.NDim() != 3 || r.NDim() != 3 {
		c.fails("inputs must be [T, N, size], and weights [directions, gates, size]")
	}
	switch {
	case c.has(4):
		c.fails("lengths of sequences are not supported")
	case cell == tensor.GRUCell && c.integer("linear_before_reset") == 0:
		c.fails("only linear_before_reset 1, as in PyTorch, is supported")
	}
	reverse, known := map[string][]bool{"forward": {false}, "reverse": {true}, "bidirectional": {false, true}}[c.attributes["direction"].(string)]
	if !known || len(reverse) != w.Size(0) || len(reverse) != r.Size(0) {
		c.fails("the direction %v does not fit", c.attributes["direction"])
	}
	steps, examples, hidden := x.Size(0), x.Size(1), r.Size(2)
	if n := len(gates) * hidden; w.Size(1) != n || r.Size(1) != n || c.has(3) && !slices.Equal(c.tensor(3).Shape(), []int{len(reverse), 2 * n}) {
		c.fails("weights or biases do not have %d gates of %d hidden units", len(gates), hidden)
	}
	var y, h, last []*Tensor
	for d, back := range reverse {
		ordered := func(t *Tensor) *Tensor { // part of this direction
			t = t.Slice(0, d, d+1)
			t = t.Reshape(t.Shape()[1:]...)
			var parts []*Tensor
			for _, g := range gates {
				parts = append(parts, t.Slice(0, g*hidden, (g+1)*hidden))
			}
			return tensor.Concat(0, parts...)
		}
		initial := func(i int) *Tensor {
			if !c.has(i) {
				return nil
			}
			return c.tensor(i).Slice(0, d, d+1).Reshape(examples, hidden)
		}
		layer := tensor.Recurrence{Cell: cell, Weight: ordered(r), H: initial(5), Reverse: back}
		var bias *Tensor
		if c.has(3) {
			n := len(gates) * hidden
			ofInput, ofState := ordered(c.tensor(3).Slice(1, 0, n)), ordered(c.tensor(3).Slice(1, n, 2*n))
			if bias = ofInput; cell == tensor.GRUCell {
				layer.Bias = ofState
			} else {
				bias = ofInput.Add(ofState)
			}
		}
		layer.X = tensor.Linear(x, ordered(w), bias)
		if cell == tensor.LSTMCell {
			layer.C = initial(6)
		}
		all, state, other := layer.Run()
		y, h = append(y, all.Reshape(steps, 1, examples, hidden)), append(h, state.Reshape(1, examples, hidden))
		if other != nil {
			last = append(last, other.Reshape(1, examples, hidden))
		}
	}
	out := []operand{valueOf(tensor.Concat(1, y...)), valueOf(tensor.Concat(0, h...))}
	if len(last) > 0 {
		out = append(out, valueOf(tensor.Concat(0, last...)))
	}
	return c.outputs(out)
}

// outputs returns the values of the outputs that the node has.
func (c *call) outputs(all []operand) []operand {
	if len(c.outs) > len(all) {
		c.fails("it has %d outputs, want at most %d", len(c.outs), len(all))
	}
	return all[:len(c.outs)]
}

func runSplit(c *call) []operand {
	shape := c.shape()
	axis, parts := c.axis(c.integer("axis"), len(shape)), len(c.outs)
	var sizes []int
	if c.has(1) {
		sizes = c.ints(1)
	} else {
		each := (shape[axis] + parts - 1) / parts
		for i := range parts {
			sizes = append(sizes, max(0, min(each, shape[axis]-i*each)))
		}
	}
	total := 0
	for _, n := range sizes {
		if total += n; n < 0 || total > shape[axis] {
			break
		}
	}
	if len(sizes) != parts || total != shape[axis] || slices.Min(sizes) < 0 {
		c.fails("the sizes %v do not divide axis %d into %d parts", sizes, axis, parts)
	}
	var out []operand
	from := 0
	for _, n := range sizes {
		if v := c.in[0]; v.known && len(shape) == 1 {
			out = append(out, operand{element: v.element, known: true, ints: v.ints[from : from+n], shape: []int{n}})
		} else {
			out = append(out, operand{t: v.tensor().Slice(axis, from, from+n), element: v.element})
		}
		from += n
	}
	return out
}

func runTopK(c *call) []operand {
	x, k := c.tensor(0), c.ints(1)
	axis := c.axis(c.integer("axis"), x.NDim())
	if len(k) != 1 || k[0] < 1 || k[0] > x.Size(axis) {
		c.fails("k is %v, but axis %d has %d elements", k, axis, x.Size(axis))
	}
	values, indices := x.TopK(k[0], axis, c.integer("largest") != 0)
	return c.outputs([]operand{valueOf(values), valueOf(indices.Cast(tensor.Int64))})
}
