package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// float64Heads is attention in float64, one head of an example per chunk.
type float64Heads struct {
	ir.Attention
	count, heads int // in the whole batch, and per example
	t, s, d, e   int
	add          addend
}

func newFloat64Heads(op ir.Attention, in []ir.Operand, added int) float64Heads {
	q, v := in[0].Shape, in[2].Shape
	h := float64Heads{Attention: op, count: q[0] * q[1], heads: q[1], t: q[2], s: v[2], d: q[3], e: v[3]}
	if len(in) > added {
		h.add = newAddend(in[added].Shape, q[1])
	}
	return h
}

// scores computes the row of query i. The scores of keys that it must not attend to are
// -Inf.
func (h *float64Heads) scores(row, q, keys, added []float64, head, i int) {
	for j := range row {
		row[j] = math.Inf(-1)
		if h.Causal && j > i {
			continue
		}
		row[j] = 0
		for c := range h.d {
			row[j] += q[i*h.d+c] * keys[j*h.d+c]
		}
		row[j] *= h.Scale
		if added != nil {
			row[j] += added[h.add.at(head, i, j)]
		}
	}
}

func float64Attention(s ir.Step) *float64Op {
	h := newFloat64Heads(s.Op.(ir.Attention), s.In, 3)
	return &float64Op{step: s, chunks: h.count, part: func(k *float64Op, head int) {
		q, keys, v := plane(k.in[0], head, h.t*h.d), plane(k.in[1], head, h.s*h.d), plane(k.in[2], head, h.s*h.e)
		y, sums := headOf(k.out, head, h.heads, h.t, h.e), k.out[h.count*h.t*h.e:][head*h.t:]
		row := make([]float64, h.s)
		for i := range h.t {
			h.scores(row, q, keys, k.added(3), head, i)
			out := y.row(i)
			clear(out)
			var top [1]float64
			maxLine(top[:], row)
			if math.IsInf(top[0], -1) { // the query sees no key
				sums[i] = 0
				continue
			}
			total := 0.0
			for j := range row {
				row[j] = math.Exp(row[j] - top[0])
				total += row[j]
			}
			for j, p := range row {
				for c := range out {
					out[c] += p / total * v[j*h.e+c]
				}
			}
			sums[i] = top[0] + math.Log(total)
		}
	}}
}

// added returns the input that is added to the scores, or nil.
func (k *float64Op) added(i int) []float64 {
	if i < len(k.in) {
		return k.in[i]
	}
	return nil
}

func float64AttentionGradient(s ir.Step) *float64Op {
	op := s.Op.(ir.AttentionGradient)
	h := newFloat64Heads(op.Attention, s.In, 5)
	pitch, from := op.Rows(s.In[0].Shape, s.In[2].Shape)
	return &float64Op{step: s, chunks: h.count, part: func(k *float64Op, head int) {
		q, keys, v := plane(k.in[0], head, h.t*h.d), plane(k.in[1], head, h.s*h.d), plane(k.in[2], head, h.s*h.e)
		y, sums, dy := headOf(k.in[3], head, h.heads, h.t, h.e), k.in[3][h.count*h.t*h.e:][head*h.t:], headOf(k.in[4], head, h.heads, h.t, h.e)
		dq := headAt(k.out, head, h.heads, h.t, h.d, pitch[0], from[0])
		dk := headAt(k.out, head, h.heads, h.s, h.d, pitch[1], from[1])
		dv := headAt(k.out, head, h.heads, h.s, h.e, pitch[2], from[2])
		dq.clear(h.t)
		dk.clear(h.s)
		dv.clear(h.s)
		row := make([]float64, h.s)
		for i := range h.t {
			h.scores(row, q, keys, k.added(5), head, i)
			delta := 0.0
			slopes, ofQuery := dy.row(i), dq.row(i)
			for c, v := range y.row(i) {
				delta += v * slopes[c]
			}
			for j := range row {
				p, slope := math.Exp(row[j]-sums[i]), -delta
				ofValue, ofKey := dv.row(j), dk.row(j)
				for c, d := range slopes {
					slope += d * v[j*h.e+c]
					ofValue[c] += p * d
				}
				slope *= p * h.Scale
				for c := range h.d {
					ofQuery[c] += slope * keys[j*h.d+c]
					ofKey[c] += slope * q[i*h.d+c]
				}
			}
		}
	}}
}

// addend maps scores [B, H, T, S] to elements of the tensor that is added to them; its
// dimensions of size 1 are broadcast.
type addend struct {
	heads  int // heads per example
	stride [4]int
}

func newAddend(shape []int, heads int) addend {
	a := addend{heads: heads}
	for i, n := range ir.Strides(shape) {
		if shape[i] > 1 {
			a.stride[i] = n
		}
	}
	return a
}

// at returns the offset for a head, counted over the whole batch, a query and a key.
func (a *addend) at(head, query, key int) int {
	return head/a.heads*a.stride[0] + head%a.heads*a.stride[1] + query*a.stride[2] + key*a.stride[3]
}
