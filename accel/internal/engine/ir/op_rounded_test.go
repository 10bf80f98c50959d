package ir

import (
	"slices"
	"strings"
	"testing"
)

// trainRounded makes steps of w = w - 0.5·∂/∂w sum((x·w)²), where w is rounded.
func trainRounded(r *Recorder, w **Value, leaf *Leaf, x *Value, steps int) {
	for range steps {
		r.ZeroGrad(leaf)
		rows := r.as(x, Float32)
		y := r.Record(MatMul{}, rows, r.as(r.Round(*w, BFloat16), Float32))
		r.Backward(r.Record(Sum{From: 0, To: 2}, r.Record(Square{}, y)))
		r.noGrad++
		r.Assign(w, r.Record(Sub{}, *w, r.MulScalar(leaf.Grad, 0.5)).Hold(), leaf)
		r.noGrad--
		r.Flush()
	}
}

// The update of a parameter writes the rounding that the next step reads over the one before; the first has none
// to overwrite.
func TestRoundedParameter(t *testing.T) {
	d := &batchDevice{float16Device{fp8Device{none: true}}}
	r := NewRecorder(d)
	w, leaf := parameter(r, 16, 16)
	x := input(r, BFloat16, 16, 16)
	trainRounded(r, &w, leaf, x, 1)
	live := r.live.n.Load()
	trainRounded(r, &w, leaf, x, 3)
	for i, want := range []string{`0 loop[16 16] x1[16 16] -> t2[16 16]:bfloat16: Cast(0)=0
1 MatMul x0[16 16]:bfloat16 t2[16 16]:bfloat16 -> t3[16 16]
2 loop[] -> t4[]: Fill()=0
3 loop[16 16] t4[16 16]/[0 0] t3[16 16] -> t5[16 16]: MulScalar(0) Mul(2 1)=0
4 loop[16 16] x0[16 16]:bfloat16 -> t6[16 16]: Cast(0)=0
5 MatMul t6[16 16]/[1 16] t5[16 16] -> t7[16 16]
6 loop[16 16] t7[16 16] x1[16 16] -> o8[16 16] o9[16 16]: Cast(0) Cast(2)=0 MulScalar(3) Sub(1 4)=1
7 loop[16 16] o9[16 16] -> o10[16 16]:bfloat16: Cast(0)=0
arena 3072 bytes
`, `0 MatMul x0[16 16]:bfloat16 x1[16 16]:bfloat16 -> t3[16 16]
1 loop[] -> t4[]: Fill()=0
2 loop[16 16] t4[16 16]/[0 0] t3[16 16] -> t5[16 16]: MulScalar(0) Mul(2 1)=0
3 loop[16 16] x0[16 16]:bfloat16 -> t6[16 16]: Cast(0)=0
4 MatMul t6[16 16]/[1 16] t5[16 16] -> t7[16 16]
5 loop[16 16] t7[16 16] x2[16 16] -> o8[16 16] o9[16 16] o10[16 16]:bfloat16: Cast(0) Cast(2)=0 MulScalar(3) Sub(1 4)=1 Cast(5)=2
arena 3136 bytes
`} {
		if got := d.programs[i].String(); got != want {
			t.Errorf("program %d is\n%swant\n%s", i, got, want)
		}
	}
	if len(d.programs) != 2 || r.live.n.Load() != live {
		t.Errorf("%d programs, %d bytes after four steps; want 2, and %d as after one", len(d.programs), r.live.n.Load(), live)
	}
}

// A parameter that is frozen, before or after its first update, is rounded once.
func TestRoundedFrozen(t *testing.T) {
	for steps := range 2 {
		d := &batchDevice{float16Device{fp8Device{none: true}}}
		r := NewRecorder(d)
		w, leaf := parameter(r, 16, 16)
		x := input(r, BFloat16, 16, 16)
		trainRounded(r, &w, leaf, x, steps)
		w = r.Leaf(w, nil)
		before := len(d.programs)
		for range 3 {
			y := r.Record(MatMul{}, r.as(x, Float32), r.as(r.Round(w, BFloat16), Float32)).Hold()
			r.Flush()
			r.Release(y)
		}
		want := []string{`0 loop[16 16] x1[16 16] -> o2[16 16]:bfloat16: Cast(0)=0
1 MatMul x0[16 16]:bfloat16 o2[16 16]:bfloat16 -> o3[16 16]
arena 0 bytes
`, `0 MatMul x0[16 16]:bfloat16 x1[16 16]:bfloat16 -> o3[16 16]
arena 0 bytes
`}[steps:]
		var got []string
		for _, p := range d.programs[before:] {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d steps, the programs are\n%s\nwant\n%s", steps, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Roundings that nothing reads any more are freed, and none is made of what is no parameter.
func TestRoundedIsFreed(t *testing.T) {
	const bytes = 2 * 16 * 16
	for _, row := range []struct {
		name   string
		change func(r *Recorder, w **Value, leaf *Leaf)
		kept   int // bytes of the rounding
	}{
		{"nothing", func(*Recorder, **Value, *Leaf) {}, bytes},
		{"an evaluation", func(r *Recorder, w **Value, _ *Leaf) {
			r.noGrad++
			y := r.Record(MatMul{}, r.as(r.Round(*w, BFloat16), Float32), *w).Hold()
			r.Flush()
			r.noGrad--
			r.Release(y)
		}, bytes},
		{"data", func(r *Recorder, w **Value, _ *Leaf) { *w = r.Overwrite(*w, make([]byte, 2*bytes)) }, 0},
		{"an update without a forward pass", func(r *Recorder, w **Value, leaf *Leaf) {
			r.noGrad++
			r.Assign(w, r.MulScalar(*w, 2).Hold(), leaf)
			r.Flush()
			r.noGrad--
		}, 0},
		{"a frozen parameter", func(r *Recorder, w **Value, _ *Leaf) { *w = r.Leaf(*w, nil) }, bytes},
		{"a frozen parameter with new data", func(r *Recorder, w **Value, _ *Leaf) {
			*w = r.Overwrite(r.Leaf(*w, nil), make([]byte, 2*bytes))
		}, 0},
		{"a frozen parameter that is released", func(r *Recorder, w **Value, _ *Leaf) { r.Release(r.Leaf(*w, nil)) }, 0},
		{"a released parameter", func(r *Recorder, w **Value, _ *Leaf) { r.Release(*w) }, 0},
		{"an input of Recompute", func(r *Recorder, w **Value, leaf *Leaf) {
			*w = r.Overwrite(*w, make([]byte, 2*bytes))
			y := r.Recompute(func(in []*Value) *Value {
				return r.Record(MatMul{}, r.as(r.Round(in[0], BFloat16), Float32), in[0])
			}, []*Value{*w})
			r.Backward(r.Record(Sum{From: 0, To: 2}, y))
			r.Flush()
		}, 0},
	} {
		live := func(recast bool) int {
			r := NewRecorder(&batchDevice{float16Device{fp8Device{none: true}}})
			r.Recast(recast)
			w, leaf := parameter(r, 16, 16)
			trainRounded(r, &w, leaf, input(r, BFloat16, 16, 16), 2)
			row.change(r, &w, leaf)
			return int(r.live.n.Load())
		}
		if got := live(false) - live(true); got != row.kept {
			t.Errorf("%s: %d bytes more than without a rounding, want %d", row.name, got, row.kept)
		}
	}
}
