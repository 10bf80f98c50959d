package ir

import "testing"

// slopeDevice multiplies products with slopes, and computes nothing.
type slopeDevice struct{ float16Device }

func (*slopeDevice) MultipliesSlope(gradient Op, _ DType) bool {
	_, ok := gradient.(ReLUGradient)
	return ok
}

func (*slopeDevice) Activates(activation Op, _ DType) bool {
	_, ok := activation.(GELU)
	return ok
}

func TestSlopesAreInProducts(t *testing.T) {
	round := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	widen := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: Float32}, v) }
	single := func(r *Recorder, shape ...int) *Value { return input(r, Float32, shape...) }
	short := func(r *Recorder, shape ...int) *Value { return widen(r, input(r, BFloat16, shape...)) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"of an input", func(r *Recorder) {
			r.Record(ReLUGradient{}, r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), single(r, 3, 2)).Hold()
		}, `0 MatMul+ReLUGradient x0[3 4] x1[4 2] x2[3 2] -> o3[3 2]
arena 0 bytes
`},
		{"through a reshape, of what was computed before", func(r *Recorder) {
			y := r.Record(Exp{}, single(r, 6))
			dy := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(ReLUGradient{}, r.Reshape(dy, []int{6}), y).Hold()
		}, `0 loop[6] x0[6] -> t3[6]: Exp(0)=0
1 MatMul+ReLUGradient x1[3 4] x2[4 2] t3[3 2] -> o4[3 2]
arena 64 bytes
`},
		{"in 16 bits", func(r *Recorder) {
			y := short(r, 3, 2)
			dy := widen(r, round(r, r.Record(MatMul{}, short(r, 3, 4), short(r, 4, 2))))
			dx := widen(r, round(r, r.Record(ReLUGradient{}, dy, y)))
			round(r, r.Record(MatMul{}, r.swapLast(dx), dx)).Hold()
		}, `0 MatMul+ReLUGradient x1[3 4]:bfloat16 x2[4 2]:bfloat16 x0[3 2]:bfloat16 -> t3[3 2]:bfloat16
1 MatMul t3[2 3]/[1 2]:bfloat16 t3[3 2]:bfloat16 -> o4[2 2]:bfloat16
arena 64 bytes
`},
		{"not of a product that others read", func(r *Recorder) {
			dy := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(ReLUGradient{}, dy, single(r, 3, 2)).Hold()
			r.Record(Exp{}, r.Reshape(dy, []int{6})).Hold()
		}, `0 MatMul x0[3 4] x1[4 2] -> t3[3 2]
1 loop[3 2] t3[3 2] x2[3 2] -> o4[3 2]: ReLUGradient(0 1)=0
2 loop[6] t3[6] -> o5[6]: Exp(0)=0
arena 64 bytes
`},
		{"not of a product that outlives the list", func(r *Recorder) {
			dy := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)).Hold()
			r.Record(ReLUGradient{}, dy, single(r, 3, 2)).Hold()
		}, `0 MatMul x0[3 4] x1[4 2] -> o3[3 2]
1 loop[3 2] o3[3 2] x2[3 2] -> o4[3 2]: ReLUGradient(0 1)=0
arena 0 bytes
`},
		{"not with what is computed after the product", func(r *Recorder) {
			dy := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(ReLUGradient{}, dy, r.Record(Softmax{}, single(r, 3, 2))).Hold()
		}, `0 MatMul x0[3 4] x1[4 2] -> t3[3 2]
1 Softmax x2[3 2] -> t4[3 2]
2 loop[3 2] t3[3 2] t4[3 2] -> o5[3 2]: ReLUGradient(0 1)=0
arena 128 bytes
`},
		{"not with a transposed or repeated value, or with two products as x and dy", func(r *Recorder) {
			r.Record(ReLUGradient{}, r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), r.swapLast(single(r, 2, 3))).Hold()
			r.Record(ReLUGradient{}, r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), single(r, 2)).Hold()
			dy := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(ReLUGradient{}, dy, dy).Hold()
		}, `0 MatMul x0[3 4] x1[4 2] -> t8[3 2]
1 loop[3 2] t8[3 2] x2[3 2]/[1 3] -> o9[3 2]: ReLUGradient(0 1)=0
2 MatMul x3[3 4] x4[4 2] -> t10[3 2]
3 loop[3 2] t10[3 2] x5[3 2]/[0 1] -> o11[3 2]: ReLUGradient(0 1)=0
4 MatMul x6[3 4] x7[4 2] -> t12[3 2]
5 loop[3 2] t12[3 2] -> o13[3 2]: ReLUGradient(0 0)=0
arena 64 bytes
`},
		{"not of other types, or of other activations", func(r *Recorder) {
			y := single(r, 3, 2)
			r.Record(ReLUGradient{}, widen(r, round(r, r.Record(MatMul{}, short(r, 3, 4), short(r, 4, 2)))), y).Hold()
			r.Record(GELUGradient{}, r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), y).Hold()
		}, `0 MatMul x0[3 4]:bfloat16 x1[4 2]:bfloat16 -> t5[3 2]:bfloat16
1 loop[3 2] t5[3 2]:bfloat16 x2[3 2] -> o6[3 2]: ReLUGradient(0 1)=0
2 MatMul x3[3 4] x4[4 2] -> t7[3 2]
3 loop[3 2] t7[3 2] x2[3 2] -> o8[3 2]: GELUGradient(0 1)=0
arena 64 bytes
`},
		{"an activation", func(r *Recorder) {
			r.Record(GELU{}, r.Record(Linear{}, single(r, 3, 4), single(r, 2, 4), single(r, 2))).Hold()
			r.Record(GELU{}, r.Reshape(r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), []int{6})).Hold()
		}, `0 Linear+GELU x0[3 4] x1[2 4] x2[2] -> o5[3 2]
1 MatMul+GELU x3[3 4] x4[4 2] -> o6[3 2]
arena 0 bytes
`},
		{"an activation, of what others read", func(r *Recorder) {
			x := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			y := r.Record(GELU{}, x)
			r.Record(Exp{}, r.Add(x, y)).Hold()
		}, `0 MatMul+GELU x0[3 4] x1[4 2] -> t2[3 2] t3[3 2]
1 loop[3 2] t3[3 2] t2[3 2] -> o4[3 2]: Add(0 1) Exp(2)=0
arena 128 bytes
`},
		{"an activation, of what outlives the list, and another", func(r *Recorder) {
			x := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)).Hold()
			r.Record(GELU{}, x).Hold()
			r.Record(GELU{}, r.Reshape(x, []int{6})).Hold()
			r.Reshape(r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2)), []int{6}).Hold()
		}, `0 MatMul+GELU x0[3 4] x1[4 2] -> o4[3 2] o5[3 2]
1 loop[6] o5[6] -> o6[6]: GELU(0)=0
2 MatMul x2[3 4] x3[4 2] -> o7[3 2]
arena 0 bytes
`},
		{"an activation, of which a view outlives the list", func(r *Recorder) {
			x := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(GELU{}, x).Hold()
			r.swapLast(x).Hold()
		}, `0 MatMul+GELU x0[3 4] x1[4 2] -> o2[3 2] o3[3 2]
arena 0 bytes
`},
		{"an activation in 16 bits", func(r *Recorder) {
			x := widen(r, round(r, r.Record(MatMul{}, short(r, 3, 4), short(r, 4, 2))))
			y := widen(r, round(r, r.Record(GELU{}, x)))
			round(r, r.Record(MatMul{}, r.swapLast(y), y)).Hold()
			round(r, r.Record(Exp{}, x)).Hold()
		}, `0 MatMul+GELU x0[3 4]:bfloat16 x1[4 2]:bfloat16 -> t2[3 2]:bfloat16 t3[3 2]:bfloat16
1 MatMul t2[2 3]/[1 2]:bfloat16 t2[3 2]:bfloat16 -> o4[2 2]:bfloat16
2 loop[3 2] t3[3 2]:bfloat16 -> o5[3 2]:bfloat16: Exp(0) Cast(1)=0
arena 128 bytes
`},
		{"not an activation of parts, in other types, or of other ops", func(r *Recorder) {
			x := r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))
			r.Record(GELU{}, r.part(r.Reshape(x, []int{6}), 2, []int{4})).Hold()
			r.Record(GELU{}, widen(r, round(r, r.Record(MatMul{}, short(r, 3, 4), short(r, 4, 2))))).Hold()
			r.Record(Tanh{}, r.Record(MatMul{}, single(r, 3, 4), single(r, 4, 2))).Hold()
			r.Record(GELU{}, r.Record(Softmax{}, single(r, 3, 4))).Hold()
		}, `0 MatMul x0[3 4] x1[4 2] -> t7[3 2]
1 loop[4] t7[4]+2 -> o8[4]: GELU(0)=0
2 MatMul x2[3 4]:bfloat16 x3[4 2]:bfloat16 -> t9[3 2]:bfloat16
3 loop[3 2] t9[3 2]:bfloat16 -> o10[3 2]: GELU(0)=0
4 MatMul x4[3 4] x5[4 2] -> t11[3 2]
5 loop[3 2] t11[3 2] -> o12[3 2]: Tanh(0)=0
6 Softmax x6[3 4] -> t13[3 4]
7 loop[3 4] t13[3 4] -> o14[3 4]: GELU(0)=0
arena 64 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &slopeDevice{float16Device{fp8Device{none: true}}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
