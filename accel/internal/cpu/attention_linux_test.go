package cpu

import (
	"fmt"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// attentionShapes are those of the GPT block, the encoder and the attention case of accel/bench, of one example.
var attentionShapes = []struct {
	heads, length, width int
	causal               bool
}{{4, 128, 32, true}, {4, 64, 64, false}, {4, 512, 64, true}}

// BenchmarkAttentionShare reports the share of the CPU's peak that attention and its gradient reach, as BenchmarkShare does for
// products. Of causal attention, only the scores on and below the diagonal count.
func BenchmarkAttentionShare(b *testing.B) {
	for _, s := range attentionShapes {
		op := ir.Attention{Causal: s.causal, Scale: 0.2}
		scores := s.length * s.length
		if s.causal {
			scores = s.length * (s.length + 1) / 2
		}
		product := 2 * float64(s.heads*scores*s.width)
		name := fmt.Sprintf("%dx%dx%d", s.heads, s.length, s.width)
		b.Run(name+"/forward", func(b *testing.B) {
			d := New(1)
			defer d.Close()
			k := newBenchedAttention(d, op, s.heads, s.length, s.width)
			reportShare(b, d, 2*product, func() { d.pool.run(k.count, k) })
		})
		b.Run(name+"/gradient", func(b *testing.B) {
			d := New(1)
			defer d.Close()
			f := newBenchedAttention(d, op, s.heads, s.length, s.width)
			d.pool.run(f.count, f)
			slope := dense(s.length, s.heads*s.width, false).data
			in := append(f.step.In, ir.Operand{Slot: 3}, ir.Operand{Slot: 4, DType: ir.Float32})
			made, err := newAttentionGradient(d, ir.Step{Op: ir.AttentionGradient{Attention: op, Joined: true}, In: in})
			if err != nil {
				b.Fatal(err)
			}
			k := made.(*attentionGradient)
			k.q.data, k.k.data, k.v.data = f.q.data, f.k.data, f.v.data
			k.out, k.sums, k.dy, k.slope.data = f.out, f.sums, slope, slope
			k.all = aligned(3 * len(slope))
			reportShare(b, d, 5*product, func() { d.pool.run(k.count, k) })
		})
	}
}

// newBenchedAttention returns attention of the heads of one example, side by side as a projection writes them.
func newBenchedAttention(d *Device, op ir.Attention, heads, length, width int) *attention {
	row := heads * width
	joined := dense(length, 3*row, false).data
	var in []ir.Operand
	for i := range 3 {
		layout := ir.Layout{Shape: []int{1, heads, length, width}, Stride: []int{length * 3 * row, width, 3 * row, 1}, Offset: i * row}
		in = append(in, ir.Operand{Slot: 0, DType: ir.Float32, Layout: layout})
	}
	made, err := newAttention(d, ir.Step{Op: op, In: in, Out: []ir.Operand{{Slot: 1}}})
	if err != nil {
		panic(err)
	}
	k := made.(*attention)
	k.q.data, k.k.data, k.v.data = joined, joined[row:], joined[2*row:]
	k.out, k.sums = aligned(length*row), aligned(length*heads)
	return k
}
