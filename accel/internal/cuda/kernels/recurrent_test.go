package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestRecurrent compares all steps and their gradients with the CPU, which rounds the same values.
func TestRecurrent(t *testing.T) {
	type row struct {
		steps, n, hidden int
		factor, x, w, dy ir.DType
		reverse, lengths bool
		part             bool // dy is the gradient of the states after the steps only
	}
	const f32, bf16, f16 = ir.Float32, ir.BFloat16, ir.Float16
	rows := []row{
		{3, 5, 7, f32, f32, f32, f32, false, true, true},
		{2, 33, 40, bf16, bf16, bf16, bf16, true, true, true},
		{2, 3, 9, f16, f32, f32, f16, true, false, false},
		{1, 1, 1, f32, f32, f32, f32, true, false, false},
		{3, 34, 72, f32, f32, f32, f32, true, true, false},
		{4, 2, 64, f16, f16, f16, f32, false, true, true},
		{1, 1, 1, bf16, f32, f32, f32, false, false, false},
		{2, 2, 300, bf16, bf16, bf16, bf16, false, false, true},
		{2, 0, 3, f32, f32, f32, f32, false, false, false},
	}
	for _, cell := range []ir.Cell{ir.LSTMCell, ir.GRUCell, ir.TanhCell, ir.ReLUCell} {
		for _, c := range some(rows) {
			t.Run(fmt.Sprint(cell, c), func(t *testing.T) {
				r, m := generator(5), newTestGPU(t)
				gates := cell.Gates() * c.hidden
				op := ir.Recurrent{Cell: cell, Reverse: c.reverse, Factor: c.factor}
				x, w := random(r, c.x, c.steps, c.n, gates), newArray(c.w, gates, c.hidden)
				for i := range w.data { // exact as a factor, which the weight of the CPU is already
					w.data[i] = number64(c.factor, r.NormFloat64()/math.Sqrt(float64(c.hidden)))
				}
				h := random(r, f32, c.n, c.hidden)
				in := []array{x.as(f32), w.as(f32), h}
				var more, lengths Pointer
				switch cell {
				case ir.LSTMCell:
					in = append(in, random(r, f32, c.n, c.hidden))
					more = m.put(in[3])
				case ir.GRUCell:
					in = append(in, random(r, f32, gates))
					more = m.put(in[3])
				}
				var rest []array
				if c.lengths {
					l := below(r, c.steps, c.n)
					for i := range l.data {
						l.data[i]++
					}
					rest, lengths = []array{l}, m.put(l)
				}
				sizes := op.Sizes(x.shape, w.shape)
				o := Recurrent{sizes, cell, c.reverse, c.factor, c.x, c.w}
				tolerance := 1e-5
				if c.factor != f32 {
					tolerance = .02
				}
				state := c.n * c.hidden
				flat := newArray(f32, (c.steps+1)*sizes.States*state+c.steps*c.n*sizes.Saved)
				all, pw := m.alloc(4*len(flat.data)), m.put(w)
				m.run(o.Launches(all, m.put(x), pw, m.put(h), more, lengths, m.alloc(o.Workspace())))
				want := reference(t, op, nil, append(in, rest...), nil, flat)
				compareArrays(t, m.get(all, f32, flat.shape), want, tolerance)

				g := ir.RecurrentGradient{Recurrent: op, Steps: c.steps, Sequences: c.n}
				count := len(flat.data)
				if c.part {
					count = c.steps * state
					if g.From = state; c.reverse {
						g.From = 0
					}
				}
				dy := newArray(c.dy, count)
				for i := range min(count, (c.steps+1)*sizes.States*state) {
					dy.data[i] = number64(c.dy, r.NormFloat64())
				}
				slopes := newArray(f32, c.steps*c.n*sizes.Slopes+sizes.States*state)
				got := m.alloc(4 * len(slopes.data))
				m.run(o.Gradient(got, m.put(want), pw, m.put(dy), c.dy, g.From, count, lengths, m.alloc(o.GradientWorkspace())))
				wantSlopes := reference(t, g, nil, append([]array{want, w.as(f32), dy.as(f32)}, rest...), nil, slopes)
				compareArrays(t, m.get(got, f32, slopes.shape), wantSlopes, tolerance)
			})
		}
	}
}
