package ir

import "testing"

// lossDevice computes losses with their gradients, and computes nothing.
type lossDevice struct{ float16Device }

func (*lossDevice) FusesLosses() bool { return true }
func (*lossDevice) Reads16Bit(op Op, input int) bool {
	return op.Name() == "CrossEntropy" && input == 0
}
func (*lossDevice) Writes16Bit(Op) bool { return false }

func TestLossesWithGradientsAreOneStep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"a loss and its gradient", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
		}, `0 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x2[] -> o3[4 8] o4[]
arena 0 bytes
`},
		{"the gradient is of a scaled loss", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(Tanh{}, r.Record(CrossEntropy{}, x, label)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, r.Record(Tanh{}, input(r, Float32))).Hold()
		}, `0 loop[] x2[] -> t3[]: Tanh(0)=0
1 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 t3[] -> o4[4 8] t5[]
2 loop[] t5[] -> o6[]: Tanh(0)=0
arena 128 bytes
`},
		{"of reshaped logits", func(r *Recorder) {
			x, label := r.Record(Tanh{}, input(r, Float32, 2, 2, 8)), input(r, Int32, 4)
			r.Record(CrossEntropy{}, r.Reshape(x, []int{4, 8}), label).Hold()
			r.Record(CrossEntropyGradient{}, r.Reshape(x, []int{4, 8}), label, input(r, Float32)).Hold()
		}, `0 loop[2 2 8] x0[2 2 8] -> t3[2 2 8]: Tanh(0)=0
1 CrossEntropy+CrossEntropyGradient t3[4 8] x1[4]:int32 x2[] -> o4[4 8] o5[]
arena 128 bytes
`},
		{"not if the gradient needs the loss", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			y := r.Record(CrossEntropy{}, x, label)
			r.Record(CrossEntropyGradient{}, x, label, y).Hold()
			r.Record(CrossEntropyGradient{}, x, label, r.Record(Tanh{}, y)).Hold()
		}, `0 CrossEntropy x0[4 8] x1[4]:int32 -> t2[]
1 CrossEntropyGradient x0[4 8] x1[4]:int32 t2[] -> o3[4 8]
2 loop[] t2[] -> t4[]: Tanh(0)=0
3 CrossEntropyGradient x0[4 8] x1[4]:int32 t4[] -> o5[4 8]
arena 128 bytes
`},
		{"nor of other labels or logits, and one gradient of two", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, input(r, Int32, 4), input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, input(r, Float32, 4, 8), label, input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
			r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
		}, `0 CrossEntropyGradient x0[4 8] x2[4]:int32 x3[] -> o8[4 8]
1 CrossEntropyGradient x4[4 8] x1[4]:int32 x5[] -> o9[4 8]
2 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x6[] -> o10[4 8] o11[]
3 CrossEntropyGradient x0[4 8] x1[4]:int32 x7[] -> o12[4 8]
arena 0 bytes
`},
		{"of a constant gradient, which others read, too", func(r *Recorder) {
			x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
			one := r.scalar(1, Float32)
			r.Record(CrossEntropy{}, x, label).Hold()
			r.Record(CrossEntropyGradient{}, x, label, one).Hold()
			r.Record(CrossEntropyGradient{}, input(r, Float32, 4, 8), label, r.scalar(2, Float32)).Hold()
			r.Record(Tanh{}, r.Reshape(one, []int{1})).Hold()
		}, `0 loop[] -> t3[]: Fill()=0
1 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 -> o4[4 8] o5[]
2 CrossEntropyGradient x2[4 8] x1[4]:int32 -> o6[4 8]
3 loop[1] t3[1] -> o7[1]: Tanh(0)=0
arena 64 bytes
`},
		{"two losses", func(r *Recorder) {
			for range 2 {
				x, label := input(r, Float32, 4, 8), input(r, Int32, 4)
				r.Record(CrossEntropy{}, x, label).Hold()
				r.Record(CrossEntropyGradient{}, x, label, input(r, Float32)).Hold()
			}
		}, `0 CrossEntropy+CrossEntropyGradient x0[4 8] x1[4]:int32 x2[] -> o6[4 8] o7[]
1 CrossEntropy+CrossEntropyGradient x3[4 8] x4[4]:int32 x5[] -> o8[4 8] o9[]
arena 0 bytes
`},
	} {
		d := &lossDevice{}
		r := NewRecorder(d)
		tt.record(r)
		r.Flush()
		if got := d.programs[len(d.programs)-1].String(); got != tt.want {
			t.Errorf("%s:\ngot:\n%swant:\n%s", tt.name, got, tt.want)
		}
	}
}

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

// sumDevice has products that sum factors of float32 and bfloat16, and computes nothing.
type sumDevice struct{ slopeDevice }

func (*sumDevice) SumsFactors(d DType) bool     { return d == Float32 || d == BFloat16 }
func (*sumDevice) Reads16Bit(op Op, _ int) bool { return op.Name() == "Sum" }
func (*sumDevice) Writes16Bit(op Op) bool       { return op.Name() == "Sum" }

func TestSumsAreInProducts(t *testing.T) {
	round := func(r *Recorder, v *Value) *Value { return r.Record(Cast{To: BFloat16}, v) }
	single := func(r *Recorder, shape ...int) *Value { return input(r, Float32, shape...) }
	rows := func(r *Recorder, v *Value) *Value { return r.Record(Sum{From: 0, To: 1}, v) }
	for _, tt := range []struct {
		name   string
		record func(r *Recorder)
		want   string
	}{
		{"of the first factor", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3] x1[5 2] -> o2[3 2] o3[3]
arena 0 bytes
`},
		{"of the second, before the product and with an activation", func(r *Recorder) {
			dy := single(r, 5, 3)
			rows(r, dy).Hold()
			r.Record(ReLU{}, r.Record(MatMul{}, r.swapLast(single(r, 5, 2)), dy)).Hold()
		}, `0 MatMul+ReLU+Sum x1[2 5]/[1 2] x0[5 3] -> o2[2 3] o3[3]
arena 0 bytes
`},
		{"with a slope", func(r *Recorder) {
			dy, y := single(r, 5, 3), single(r, 2, 3)
			r.Record(ReLUGradient{}, r.Record(MatMul{}, r.swapLast(single(r, 5, 2)), dy), y).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+ReLUGradient+Sum x0[2 5]/[1 2] x1[5 3] x2[2 3] -> o3[2 3] o4[3]
arena 0 bytes
`},
		{"of what was computed before and reshaped", func(r *Recorder) {
			dy := r.Reshape(r.Record(Exp{}, single(r, 5, 3, 1)), []int{5, 3})
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
		}, `0 loop[5 3 1] x0[5 3 1] -> t2[5 3 1]: Exp(0)=0
1 MatMul+Sum t2[3 5]/[1 3] x1[5 2] -> o3[3 2] o4[3]
arena 64 bytes
`},
		{"of 16 bits", func(r *Recorder) {
			dy, x := r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 3)), r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 2))
			round(r, r.Record(MatMul{}, r.swapLast(dy), x)).Hold()
			rows(r, dy).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3]:bfloat16 x1[5 2]:bfloat16 -> o2[3 2]:bfloat16 o3[3]
arena 0 bytes
`},
		{"of 16 bits, rounded", func(r *Recorder) {
			dy, x := r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 3)), r.Record(Cast{To: Float32}, input(r, BFloat16, 5, 2))
			r.Record(MatMul{}, r.swapLast(dy), x).Hold()
			round(r, rows(r, dy)).Hold()
		}, `0 MatMul+Sum x0[3 5]/[1 3]:bfloat16 x1[5 2]:bfloat16 -> o2[3 2] o3[3]:bfloat16
arena 0 bytes
`},
		{"not of float32, rounded", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			round(r, rows(r, dy)).Hold()
		}, `0 MatMul x0[3 5]/[1 3] x1[5 2] -> o2[3 2]
1 Sum x0[5 3] -> o3[3]:bfloat16
arena 0 bytes
`},
		{"one of two products, and one sum of two", func(r *Recorder) {
			dy := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			r.Record(MatMul{}, r.swapLast(dy), single(r, 5, 2)).Hold()
			rows(r, dy).Hold()
			x := single(r, 5, 2)
			r.Record(MatMul{}, r.swapLast(single(r, 5, 3)), x).Hold()
			rows(r, x).Hold()
			rows(r, x).Hold()
		}, `0 MatMul x0[3 5]/[1 3] x2[5 2] -> o5[3 2]
1 MatMul+Sum x0[3 5]/[1 3] x1[5 2] -> o6[3 2] o7[3]
2 MatMul+Sum x3[3 5]/[1 3] x4[5 2] -> o8[3 2] o9[2]
3 Sum x4[5 2] -> o10[2]
arena 0 bytes
`},
		{"not of the gradient of the input, of means, or of others", func(r *Recorder) {
			dy := single(r, 4, 4)
			r.Record(MatMul{}, dy, single(r, 4, 2)).Hold() // dy is not transposed
			r.Record(MatMul{}, single(r, 2, 4), r.swapLast(dy)).Hold()
			rows(r, dy).Hold()
			x := single(r, 4, 4)
			r.Record(MatMul{}, r.swapLast(x), single(r, 4, 2)).Hold()
			r.Record(Sum{From: 0, To: 1, Mean: true}, x).Hold()
			r.Record(Sum{From: 1, To: 2}, x).Hold()
			r.Record(Sum{From: 0, To: 2}, x).Hold()
			rows(r, r.Record(Square{}, x)).Hold()
		}, `0 MatMul x0[4 4] x1[4 2] -> o5[4 2]
1 MatMul x2[2 4] x0[4 4]/[1 4] -> o6[2 4]
2 Sum x0[4 4] -> o7[4]
3 MatMul x3[4 4]/[1 4] x4[4 2] -> o8[4 2]
4 Sum x3[4 4] -> o9[4]
5 Sum x3[4 4] -> o10[4]
6 Sum x3[4 4] -> o11[]
7 loop[4 4] x3[4 4] -> t12[4 4]: Square(0)=0
8 Sum t12[4 4] -> o13[4]
arena 64 bytes
`},
		{"not of batches, of parts, or where nothing is multiplied", func(r *Recorder) {
			dy := single(r, 1, 5, 3)
			r.Record(MatMul{}, r.swapLast(dy), single(r, 1, 5, 2)).Hold()
			rows(r, r.Reshape(dy, []int{5, 3})).Hold()
			x := single(r, 6, 3)
			r.Record(MatMul{}, r.swapLast(x), single(r, 6, 2)).Hold()
			rows(r, r.part(r.Reshape(x, []int{18}), 0, []int{5, 3})).Hold()
			empty := single(r, 5, 3)
			r.Record(MatMul{}, r.swapLast(empty), single(r, 5, 0)).Hold()
			rows(r, empty).Hold()
		}, `0 MatMul x0[1 3 5]/[15 1 3] x1[1 5 2] -> o6[1 3 2]
1 Sum x0[5 3] -> o7[3]
2 MatMul x2[3 6]/[1 3] x3[6 2] -> o8[3 2]
3 Sum x2[5 3] -> o9[3]
4 MatMul x4[3 5]/[1 3] x5[5 0] -> o10[3 0]
5 Sum x4[5 3] -> o11[3]
arena 0 bytes
`},
		{"not if the product needs the sum, or the sum the product", func(r *Recorder) {
			dy := single(r, 2, 3)
			sum := rows(r, dy)
			r.Record(MatMul{}, r.swapLast(dy), r.Record(Expand{Shape: []int{2, 3}}, sum)).Hold()
		}, `0 Sum x0[2 3] -> t1[3]
1 Copy t1[2 3]/[0 1] -> t2[2 3]
2 MatMul x0[3 2]/[1 3] t2[2 3] -> o3[3 3]
arena 128 bytes
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &sumDevice{slopeDevice{float16Device{fp8Device{none: true}}}}
			r := NewRecorder(d)
			tt.record(r)
			r.Flush() // which verifies the program
			if got := d.programs[0].String(); got != tt.want {
				t.Errorf("the program is\n%swant\n%s", got, tt.want)
			}
		})
	}
}
