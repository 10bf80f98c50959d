package ir

import "testing"

// normDevice computes what is around norms, reads and writes 16 bits, and computes nothing.
type normDevice struct{ float16Device }

func (*normDevice) FusesNorms() bool { return true }
func (*normDevice) Reads16Bit(op Op, input int) bool {
	if _, ok := op.(BatchNormSums); ok {
		return input < 2
	}
	return normalized(op) >= input || weightsOf(op, LayerNormInputGradient{}) && input < 2
}
func (*normDevice) Writes16Bit(op Op) bool { return normalized(op) >= 0 }

func TestNormsAreOneStep(t *testing.T) {
	norm := func(r *Recorder, x *Value) *Value {
		d := last(x.shape)
		return r.Record(LayerNorm{}, x, input(r, Float32, d), input(r, Float32, d))
	}
	gradients := func(r *Recorder, x, dy *Value) (dx, dw *Value) {
		return r.Record(LayerNormInputGradient{}, x, dy, input(r, Float32, last(x.shape))), r.Record(LayerNormWeightGradient{}, x, dy)
	}
	round := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	widen := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: Float32}, v) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"a sum that only the norm reads", func(r *Recorder) {
			norm(r, r.Add(input(r, Float32, 4, 8), input(r, Float32, 4, 8))).Hold()
		}, `0 LayerNorm+Add x0[4 8] x2[8] x3[8] x1[4 8] -> o4[4 8]
arena 0 bytes
`},
		{"a sum that others read, of 16 bits, through a reshape", func(r *Recorder) {
			x := r.Add(input(r, Float32, 2, 2, 8), widen(r, input(r, BFloat16, 2, 2, 8)))
			norm(r, r.Reshape(x, []int{4, 8})).Hold()
			r.Record(Tanh{}, x).Hold()
		}, `0 LayerNorm+Add x1[4 8] x2[8] x3[8] x0[2 2 8]:bfloat16 -> o4[4 8] t5[2 2 8]
1 loop[2 2 8] t5[2 2 8] -> o6[2 2 8]: Tanh(0)=0
arena 128 bytes
`},
		{"a sum of four that is rounded, and a norm that is rounded and not", func(r *Recorder) {
			x := r.Add(input(r, Float32, 4, 8), input(r, Float32, 4, 8))
			x = r.Add(input(r, Float32, 4, 8), r.Add(x, input(r, Float32, 4, 8)))
			y := norm(r, widen(r, round(r, x))).Hold()
			round(r, r.Reshape(y, []int{32})).Hold()
		}, `0 LayerNorm+Add+Add+Add+Cast x0[4 8] x4[8] x5[8] x1[4 8] x2[4 8] x3[4 8] -> o6[4 8] o7[32]:bfloat16
arena 0 bytes
`},
		{"a norm that is only rounded", func(r *Recorder) {
			round(r, r.Record(RMSNorm{}, r.Add(input(r, Float32, 4, 8), input(r, Float32, 4, 8)), input(r, Float32, 8))).Hold()
		}, `0 RMSNorm+Add x0[4 8] x2[8] x1[4 8] -> o3[4 8]:bfloat16
arena 0 bytes
`},
		{"no sum of five, of a row for all, of half of a value, or of other ops", func(r *Recorder) {
			x := input(r, Float32, 4, 8)
			all := x
			for range 4 {
				all = r.Add(all, input(r, Float32, 4, 8))
			}
			norm(r, all).Hold()
			norm(r, r.Add(x, input(r, Float32, 8))).Hold()
			norm(r, r.Record(Slice{Axis: 0, From: 1, To: 3}, r.Add(x, x))).Hold()
			norm(r, r.Add(x, r.Record(Tanh{}, x))).Hold()
		}, `0 loop[4 8] x0[4 8] x1[4 8] x2[4 8] x3[4 8] x4[4 8] -> t14[4 8]: Add(0 1) Add(5 2) Add(6 3) Add(7 4)=0
1 LayerNorm t14[4 8] x5[8] x6[8] -> o15[4 8]
2 loop[4 8] x0[4 8] x7[4 8]/[0 1] -> t16[4 8]: Add(0 1)=0
3 LayerNorm t16[4 8] x8[8] x9[8] -> o17[4 8]
4 loop[4 8] x0[4 8] -> t18[4 8]: Add(0 0)=0
5 LayerNorm t18[2 8]+8 x10[8] x11[8] -> o19[2 8]
6 loop[4 8] x0[4 8] -> t20[4 8]: Tanh(0) Add(0 1)=0
7 LayerNorm t20[4 8] x12[8] x13[8] -> o21[4 8]
arena 128 bytes
`},
		{"no sum of which a part is read", func(r *Recorder) {
			part := r.Add(input(r, Float32, 4, 8), input(r, Float32, 4, 8)).Hold()
			norm(r, r.Add(part, input(r, Float32, 4, 8))).Hold()
		}, `0 loop[4 8] x0[4 8] x1[4 8] x2[4 8] -> o5[4 8] t6[4 8]: Add(0 1)=0 Add(3 2)=1
1 LayerNorm t6[4 8] x3[8] x4[8] -> o7[4 8]
arena 128 bytes
`},
		{"a sum of transposed elements", func(r *Recorder) {
			norm(r, r.Add(r.swapLast(input(r, Float32, 8, 4)), input(r, Float32, 4, 8))).Hold()
		}, `0 loop[4 8] x0[4 8]/[1 4] x1[4 8] -> t4[4 8]: Add(0 1)=0
1 LayerNorm t4[4 8] x2[8] x3[8] -> o5[4 8]
arena 128 bytes
`},
		{"both gradients of a sum, what is added to that of x, and its rounding", func(r *Recorder) {
			dy := r.Add(input(r, Float32, 4, 8), widen(r, input(r, BFloat16, 4, 8)))
			dx, dw := gradients(r, input(r, Float32, 4, 8), dy)
			dw.Hold()
			d := r.Add(input(r, Float32, 2, 16), r.Reshape(dx, []int{2, 16})).Hold()
			round(r, d).Hold()
		}, `0 LayerNormInputGradient+LayerNormWeightGradient+Add+Add+Cast x2[4 8] x1[4 8] x3[8] x0[4 8]:bfloat16 x4[2 16] -> o5[4 8] o6[2 16]:bfloat16 o7[2 8]
arena 0 bytes
`},
		{"only the rounding of the gradient is read", func(r *Recorder) {
			dx, _ := gradients(r, input(r, Float32, 4, 8), input(r, Float32, 4, 8))
			round(r, r.Add(dx, input(r, Float32, 4, 8))).Hold()
		}, `0 LayerNormInputGradient+Add x0[4 8] x1[4 8] x2[8] x3[4 8] -> o4[4 8]:bfloat16
arena 0 bytes
`},
		{"a gradient that is read itself gets no addition", func(r *Recorder) {
			dx, _ := gradients(r, input(r, Float32, 4, 8), input(r, Float32, 4, 8))
			r.Add(dx.Hold(), input(r, Float32, 4, 8)).Hold()
		}, `0 LayerNormInputGradient x0[4 8] x1[4 8] x2[8] -> o4[4 8]
1 loop[4 8] o4[4 8] x3[4 8] -> o5[4 8]: Add(0 1)=0
arena 0 bytes
`},
		{"nor one of itself", func(r *Recorder) {
			dx, _ := gradients(r, input(r, Float32, 4, 8), input(r, Float32, 4, 8))
			r.Add(dx, dx).Hold()
		}, `0 LayerNormInputGradient x0[4 8] x1[4 8] x2[8] -> t3[4 8]
1 loop[4 8] t3[4 8] -> o4[4 8]: Add(0 0)=0
arena 128 bytes
`},
		{"nor one of what waits for the gradient of the parameters", func(r *Recorder) {
			dx, dw := gradients(r, input(r, Float32, 2, 8), input(r, Float32, 2, 8))
			r.Add(dx, r.Record(CumSum{}, dw)).Hold()
		}, `0 LayerNormInputGradient+LayerNormWeightGradient x0[2 8] x1[2 8] x2[8] -> t3[2 8] t4[2 8]
1 CumSum t4[2 8] -> t5[2 8]
2 loop[2 8] t3[2 8] t5[2 8] -> o6[2 8]: Add(0 1)=0
arena 192 bytes
`},
		{"gradients of different norms", func(r *Recorder) {
			x, dy := input(r, Float32, 4, 8), input(r, Float32, 4, 8)
			r.Record(LayerNormInputGradient{LayerNorm: LayerNorm{Epsilon: 1}}, x, dy, input(r, Float32, 8)) // nobody reads it
			dx, _ := gradients(r, x, dy)
			dx.Hold()
			r.Record(LayerNormWeightGradient{LayerNorm: LayerNorm{Epsilon: 2}}, x, dy).Hold()
			r.Record(RMSNormWeightGradient{}, x, dy).Hold()
		}, `0 LayerNormInputGradient x0[4 8] x1[4 8] x3[8] -> o4[4 8]
1 LayerNormWeightGradient x0[4 8] x1[4 8] -> o5[2 8]
2 RMSNormWeightGradient x0[4 8] x1[4 8] -> o6[1 8]
arena 0 bytes
`},
		{"a norm of what is a norm plus its input", func(r *Recorder) {
			x := input(r, Float32, 4, 8)
			y := r.Add(x, norm(r, x))
			norm(r, y).Hold()
		}, `0 LayerNorm x0[4 8] x1[8] x2[8] -> t5[4 8]
1 LayerNorm+Add x0[4 8] x3[8] x4[8] t5[4 8] -> o6[4 8]
arena 128 bytes
`},
		{"the gradient of a ReLU behind a batch norm", func(r *Recorder) {
			sums := func(x, dy *Value) {
				r.Record(BatchNormSums{}, x, dy, input(r, Float32, 2, x.shape[1])).Hold()
			}
			x := input(r, Float32, 2, 3, 4)
			mask := func(of DType) *Value {
				return r.Record(ReLUGradient{}, r.as(input(r, of, 2, 3, 4), Float32), input(r, Float32, 2, 3, 4))
			}
			sums(x, mask(Float32))
			dy := widen(r, round(r, mask(BFloat16)))
			sums(x, dy)
			r.Record(Tanh{}, dy).Hold()
			sums(x, r.Record(Tanh{}, mask(Float32))) // another op
			sums(r.Record(Permute{Perm: []int{0, 2, 1}}, x), r.Record(Permute{Perm: []int{0, 2, 1}}, mask(Float32)))
			sums(x, widen(r, round(r, mask(Float32)))) // another type
		}, `0 BatchNormSums+ReLUGradient x2[2 3 4] x0[2 3 4] x3[2 3] x1[2 3 4] -> o16[2 3]
1 BatchNormSums+ReLUGradient x2[2 3 4] x4[2 3 4]:bfloat16 x6[2 3] x5[2 3 4] -> o17[2 3] t18[2 3 4]:bfloat16
2 loop[2 3 4] t18[2 3 4]:bfloat16 -> o19[2 3 4]: Tanh(0)=0
3 loop[2 3 4] x7[2 3 4] x8[2 3 4] -> t20[2 3 4]: ReLUGradient(0 1) Tanh(2)=0
4 BatchNormSums x2[2 3 4] t20[2 3 4] x9[2 3] -> o21[2 3]
5 loop[2 3 4] x10[2 3 4] x11[2 3 4] -> t22[2 3 4]: ReLUGradient(0 1)=0
6 Copy x2[2 4 3]/[12 1 4] -> t23[2 4 3]
7 Copy t22[2 4 3]/[12 1 4] -> t24[2 4 3]
8 BatchNormSums t23[2 4 3] t24[2 4 3] x12[2 4] -> o25[2 4]
9 loop[2 3 4] x13[2 3 4] x14[2 3 4] -> t26[2 3 4]:bfloat16: ReLUGradient(0 1) Cast(2)=0
10 BatchNormSums x2[2 3 4] t26[2 3 4]:bfloat16 x15[2 3] -> o27[2 3]
arena 384 bytes
`},
		{"float64", func(r *Recorder) {
			x, w := r.Add(input(r, Float64, 4, 8), input(r, Float64, 4, 8)), input(r, Float64, 8)
			r.Record(RMSNorm{}, x, w).Hold()
			r.Record(RMSNormInputGradient{}, x, x, w).Hold()
			r.Record(RMSNormWeightGradient{}, x, x).Hold()
		}, `0 Add x0[4 8]:float64 x1[4 8]:float64 -> t3[4 8]:float64
1 RMSNorm t3[4 8]:float64 x2[8]:float64 -> o4[4 8]:float64
2 RMSNormInputGradient+RMSNormWeightGradient t3[4 8]:float64 t3[4 8]:float64 x2[8]:float64 -> o5[4 8]:float64 o6[1 8]:float64
arena 256 bytes
`},
	} {
		d := &normDevice{}
		r := NewRecorder(d)
		tt.record(r)
		r.Flush()
		if got := d.programs[len(d.programs)-1].String(); got != tt.want {
			t.Errorf("%s:\ngot:\n%swant:\n%s", tt.name, got, tt.want)
		}
	}
}
